"""Readers of several seeds side by side: metrics, what they come to over seeds, and one system against another."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from statistics import mean
from typing import Any, Literal, TypeAlias

from paraform.evaluation.bootstrap import Comparison, bootstrap_interval, paired_bootstrap
from paraform.score import Score, table
from paraform_papers.par.reading import Reading

Key: TypeAlias = tuple[str, int, str]
"""System, seed, test set."""


@dataclass(frozen=True)
class ReadingTable:
    """What readers answered.

    Args:
        scores: with intervals over questions, of one seed each.
        over_seeds: of each system and set the mean over seeds, and the lowest and highest, in words.
        differences: of two systems by one seed, on the same questions.
    """

    scores: tuple[Score, ...]
    over_seeds: tuple[str, ...] = ()
    differences: tuple[Comparison, ...] = ()

    def to_json(self) -> dict[str, Any]:
        """A JSON object: `scores`, `over_seeds` and `differences`."""
        return {
            "scores": [one.to_json() for one in self.scores],
            "over_seeds": list(self.over_seeds),
            "differences": [one.to_json() for one in self.differences],
        }

    def table(self, style: Literal["plain", "markdown"] = "markdown") -> str:
        """The metrics, a row for each set and system, and a line for each of the others."""
        lines = "\n".join(f"- {one}" for one in (*self.over_seeds, *self.differences))
        return "\n\n".join(part for part in (table(self.scores, style), lines) if part)


def reading_table(
    found: Mapping[Key, Reading], settings: str, *, against: tuple[str, str], resamples: int = 1000
) -> ReadingTable:
    """The table of these metrics.

    Args:
        settings: what all readers have in common, for signatures.
        against: a system, and the one that it is compared with.
        resamples: of each interval and difference.
    """
    scores: list[Score] = []
    differences: list[Comparison] = []
    for (system, seed, test), reading in found.items():
        for at, metric in enumerate(reading):
            low, high = bootstrap_interval(metric, resamples=resamples)
            score = metric.score(system=f"{system}, seed {seed}", subset=test)
            scores.append(replace(score, signature=f"{settings}|{metric.signature}", low=low, high=high))
            other = found.get((against[1], seed, test))
            if system == against[0] and other is not None:
                names = (score.system, f"{against[1]}, seed {seed}")
                differences.append(paired_bootstrap(metric, other[at], names=names, protocol=test, resamples=resamples))
    lines = []
    for system, test in dict.fromkeys((system, test) for system, _, test in found):
        for at, name in enumerate(("EM", "F1")):
            values = [one[at].over() for (of, _, on), one in found.items() if (of, on) == (system, test)]
            spread = f"{min(values):.2f} to {max(values):.2f} over {len(values)} seeds"
            lines.append(f"{name}, {test}: {system} {mean(values):.2f} ({spread})")
    return ReadingTable(tuple(scores), tuple(lines), tuple(differences))
