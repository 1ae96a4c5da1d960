"""Readers of several seeds side by side: metrics, what they come to over seeds, and one system against another."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from statistics import mean
from typing import TypeAlias

from paraform.evaluation.bootstrap import Comparison, paired_bootstrap, with_interval
from paraform.score import Score
from paraform_papers.par.reading import Reading
from paraform_papers.tables import Figures, as_json

Key: TypeAlias = tuple[str, int, str]
"""System, seed, test set."""


def reading_table(
    found: Mapping[Key, Reading], settings: Mapping[str, str], *, against: Mapping[str, str], resamples: int = 1000
) -> Figures:
    """The table of these metrics: with intervals over questions, of one seed each; of each system and set the mean over
    seeds, and the lowest and highest; and differences from another system by one seed, on the same questions.

    Args:
        settings: of each system, for signatures.
        against: of a system the one that it is compared with.
        resamples: of each interval and difference.
    """
    scores: list[Score] = []
    differences: list[Comparison] = []
    for (system, seed, test), reading in found.items():
        for at, metric in enumerate(reading):
            score = metric.score(system=f"{system}, seed {seed}", subset=test)
            score = with_interval(score, metric, resamples=resamples)
            scores.append(replace(score, signature=f"{settings[system]}|{metric.signature}"))
            start = against.get(system, "")
            other = found.get((start, seed, test))
            if other is not None:
                names = (score.system, f"{start}, seed {seed}")
                differences.append(paired_bootstrap(metric, other[at], names=names, protocol=test, resamples=resamples))
    lines = []
    for system, test in dict.fromkeys((system, test) for system, _, test in found):
        for at, name in enumerate(("EM", "F1")):
            values = [one[at].over() for (of, _, on), one in found.items() if (of, on) == (system, test)]
            spread = f"{min(values):.2f} to {max(values):.2f} over {len(values)} seeds"
            lines.append(f"{name}, {test}: {system} {mean(values):.2f} ({spread})")
    more = {"over_seeds": lines, "differences": as_json(differences)}
    return Figures(tuple(scores), more, (*lines, *map(str, differences)))
