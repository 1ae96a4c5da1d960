"""How far the first model is above each other one, on everything that has rows."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from paraform.evaluation.bootstrap import Comparison, paired_bootstrap
from paraform.evaluation.embedding.task import Finding

REFERENCES = frozenset({"majority", "1/classes", "length alone", "chance", "random", "nearest tags", "seen"})
"""Figures that no system has a part in."""


class Difference(NamedTuple):
    """How far the first model is above another one, on one set.

    Args:
        subset: the set.
    """

    subset: str
    comparison: Comparison

    def __str__(self) -> str:
        return f"{self.subset}, {self.comparison}"

    def to_json(self) -> dict[str, str | float]:
        """A JSON object of the set and all fields of the comparison."""
        return {"subset": self.subset, **self.comparison.to_json()}


def differences_of(findings: Sequence[Finding], models: Sequence[str], resamples: int) -> list[Difference]:
    """The first model − each other one, by a paired bootstrap, of every figure with rows that is not the same for all.

    Args:
        models: names of systems, the first one first.
        resamples: of each difference; 0: no differences.
    """
    places: dict[tuple[str, str, str], dict[str, Finding]] = {}
    for finding in findings if resamples else ():
        score = finding.score
        if finding.figure is not None and score.system in models and score.name not in REFERENCES:
            places.setdefault((score.name, score.protocol, score.subset), {})[score.system] = finding
    found = []
    for (_, protocol, subset), by_system in places.items():
        first, *others = [by_system[name] for name in models if name in by_system]
        for other in others:
            if first.figure is not None and other.figure is not None:
                names = (first.score.system, other.score.system)
                compared = paired_bootstrap(
                    first.figure, other.figure, names=names, protocol=protocol, resamples=resamples
                )
                found.append(Difference(subset, compared))
    return found
