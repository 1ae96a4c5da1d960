"""How much of the labels a probe finds beyond chance, and what share of that a change of the vectors takes away."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from paraform.evaluation.bootstrap import bootstrap_interval
from paraform.evaluation.embedding.task import Finding
from paraform.evaluation.figures import RowFigure
from paraform.records import InputError
from paraform.score import Score

INFORMATION = "label information"
TAKEN_AWAY = "taken away"


def information(right_N: NDArray[np.bool_], majority_N: NDArray[np.bool_], settings: str) -> RowFigure:
    """The share of the labels that a probe finds beyond chance: (accuracy − majority) / (1 − majority).

    Args:
        right_N, majority_N: [N], whether the probe is right, and whether the commonest label is.
        settings: a signature.
    """
    rows_N3 = np.stack([right_N, majority_N, np.ones_like(right_N)], 1).astype(np.float64)
    return RowFigure(INFORMATION, rows_N3, settings, _beyond_chance, digits=3)


def taken_away(before: RowFigure, after: RowFigure) -> RowFigure:
    """The share of the accuracy above chance that a change takes away: (before − after) / (before − majority).

    1: nothing is left; 0: all of it; NaN where there was nothing to take. Its interval: `bootstrap_interval`.

    Args:
        before, after: of the same test rows by the same probe, made by `information`.
    Raises: InputError for figures of different sets or probes, or others.
    """
    same = (before.name, before.signature) == (after.name, after.signature)
    if not same or before.name != INFORMATION or before.rows.shape != after.rows.shape:
        raise InputError(f"{before.name} ({before.signature}) and {after.name} ({after.signature}); expected the same")
    rows_N3 = np.stack([before.rows[:, 0], after.rows[:, 0], before.rows[:, 1]], 1)
    return RowFigure(TAKEN_AWAY, rows_N3, before.signature, _lost, digits=3)


def compared(before: Sequence[Finding], after: Sequence[Finding]) -> list[Score]:
    """`taken_away` of each set and protocol that both have, with its interval; of the system `before → after`."""
    known = {(one.score.subset, one.score.protocol): one for one in before if one.score.name == INFORMATION}
    scores = []
    for finding in after:
        other = known.get((finding.score.subset, finding.score.protocol))
        if finding.score.name == INFORMATION and other and other.figure and finding.figure:
            figure = taken_away(other.figure, finding.figure)
            low, high = bootstrap_interval(figure)
            system = f"{other.score.system} → {finding.score.system}"
            score = figure.score(system=system, protocol=finding.score.protocol, subset=finding.score.subset)
            scores.append(replace(score, low=low, high=high))
    return scores


def _beyond_chance(sums: NDArray[Any]) -> float:
    right, majority, rows = map(float, sums)
    return (right - majority) / (rows - majority) if rows > majority else float("nan")


def _lost(sums: NDArray[Any]) -> float:
    before, after, majority = map(float, sums)
    return (before - after) / (before - majority) if before > majority else float("nan")
