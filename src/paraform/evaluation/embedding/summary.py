"""What the figures of several spaces come to: how much meaning, how much form, and what forgetting form costs."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from paraform.evaluation.bootstrap import bootstrap_interval, paired_bootstrap
from paraform.evaluation.embedding.correlation import MEAN, mean_figure
from paraform.evaluation.embedding.label_information import INFORMATION
from paraform.evaluation.embedding.similarity import SIX
from paraform.evaluation.embedding.task import Finding
from paraform.evaluation.figures import RowFigure
from paraform.score import Score, signature

FORM = ("BShift", "TreeDepth", "TopConst")
"""The probing sets that ask for form."""

HARD = "-Hard"
PAWS = "PAWS"
KINDS = ("meaning", "form", "hard", "paws")


@dataclass(frozen=True, eq=False, slots=True)
class Summary:
    """A figure of several sets for each system, the models before the floors.

    Args:
        kind: one of `KINDS`.
        sets: what the mean is over.
        figures: of each system that has one.
        models: the systems that are no floor.
        resamples: of the intervals.
    """

    kind: str
    sets: tuple[str, ...]
    figures: dict[str, RowFigure]
    models: tuple[str, ...]
    resamples: int

    def score(self, system: str) -> Score:
        """The figure of a system with its interval, if there are resamples."""
        figure = self.figures[system]
        score = figure.score(system=system, subset=", ".join(self.sets))
        if not self.resamples:
            return score
        low, high = bootstrap_interval(figure, resamples=self.resamples)
        return replace(score, low=low, high=high)

    def ranked(self, systems: Iterable[str]) -> list[str]:
        """Those of the systems that have a figure, the highest first."""
        return sorted((name for name in systems if name in self.figures), key=lambda name: -self.figures[name].over())

    @property
    def floors(self) -> list[str]:
        """The systems that are no models."""
        return [name for name in self.figures if name not in self.models]

    def difference(self, first: str, second: str) -> str:
        """`first − second` with the interval of the paired bootstrap: `3.1 (95 %: 2.0 to 4.2)`."""
        pair = (self.figures[first], self.figures[second])
        if not self.resamples:
            return f"{pair[0].over() - pair[1].over():.1f}"
        found = paired_bootstrap(*pair, resamples=self.resamples)
        luck = ", which may be luck" if found.low <= 0 <= found.high else ""
        return f"{found.difference:.1f} (95 %: {found.low:.1f} to {found.high:.1f}{luck})"

    def told(self, system: str, unit: str = "") -> str:
        """The figure in words: `78.3 (95 %: 77.5 to 79.1)`."""
        score = self.score(system)
        value = f"{score.value:.1f}{unit}"
        return value if score.low is None else f"{value} (95 %: {score.low:.1f} to {score.high:.1f})"


def counts(score: Score) -> bool:
    """Whether a summary is made of such figures."""
    return any(_counts(kind, score) for kind in KINDS)


class Point(NamedTuple):
    """A system in the picture; `form` is None where no probe can be trained."""

    system: str
    floor: bool
    meaning: Score
    form: Score | None


def summaries(findings: Sequence[Finding], models: Sequence[str], resamples: int) -> dict[str, Summary]:
    """Those of these that the findings have figures for, by their kinds.

    - meaning: the mean of Pearson (mean over domains) over STS12 to 16 and STS-B, or those of them that were measured;
    - form: the mean over BShift, TreeDepth and TopConst of the accuracy above chance, in percent of what is above it;
    - hard: the mean accuracy on the hard halves, with thresholds of other pairs; paws: the same of PAWS.

    Args:
        models: the systems that are no floors.
        resamples: of each interval; 0: none.
    """
    made: dict[str, Summary] = {}
    for kind in KINDS:
        chosen = [finding for finding in findings if finding.figure is not None and _counts(kind, finding.score)]
        sets = tuple(dict.fromkeys(finding.score.subset for finding in chosen))
        figures: dict[str, RowFigure] = {}
        for system in dict.fromkeys(finding.score.system for finding in chosen):
            # A set may be measured by several protocols; the first one counts.
            first: dict[str, RowFigure] = {}
            for finding in chosen:
                if finding.score.system == system and finding.figure is not None:
                    first.setdefault(finding.score.subset, finding.figure)
            if len(first) == len(sets):
                figures[system] = _mean(kind, [first[name] for name in sets], sets)
        if any(model in figures for model in models):
            known = [*(name for name in models if name in figures), *(name for name in figures if name not in models)]
            made[kind] = Summary(kind, sets, {name: figures[name] for name in known}, tuple(models), resamples)
    return made


def points(found: dict[str, Summary]) -> list[Point]:
    """Every system whose meaning was measured; none if it was measured of none, or form of none."""
    if "meaning" not in found or "form" not in found:
        return []
    meaning, form = found["meaning"], found["form"]
    return [
        Point(name, name in meaning.floors, meaning.score(name), form.score(name) if name in form.figures else None)
        for name in meaning.figures
    ]


def sentences(found: dict[str, Summary]) -> list[str]:
    """Three: which model keeps most meaning, which has least form left, and what that costs where word order counts."""
    return [_meaning(found.get("meaning")), _form(found.get("form")), _cost(found.get("hard"), found.get("paws"))]


def _meaning(summary: Summary | None) -> str:
    if summary is None:
        return "Meaning: not measured; it takes scored pairs (STS12 to 16, STS-B)."
    best, *others = summary.ranked(summary.models)
    told = f"Meaning: {best} keeps most, with a mean Pearson of {summary.told(best)} over {', '.join(summary.sets)}"
    if others:
        told += f"; {others[0]} is next, {summary.difference(best, others[0])} below"
    if floors := summary.ranked(summary.floors):
        told += f"; the best floor, {floors[0]}, has {summary.told(floors[0])}"
    return f"{told}."


def _form(summary: Summary | None) -> str:
    if summary is None:
        return "Form: not measured; it takes probing sets (BShift, TreeDepth, TopConst)."
    *others, least = summary.ranked(summary.models)
    kinds = [name.partition(" (") for name in summary.sets]
    notes = dict.fromkeys(f" ({note}" for _, _, note in kinds if note)  # "re-created)"
    sets = ", ".join(kind for kind, _, _ in kinds) + "".join(notes)
    told = f"Form: of what is above chance in {sets}, a probe finds {summary.told(least, ' %')} in {least}"
    if others:
        most = others[0]
        told += f", the least, and {summary.told(most, ' %')} in {most}, the most"
        told += f"; the difference is {summary.difference(most, least)}"
    return f"{told}."


def _cost(hard: Summary | None, paws: Summary | None) -> str:
    if hard is None or paws is None:
        return "Cost: not measured; it takes hard halves of paraphrases and PAWS, which asks for the order of words."
    best = hard.ranked(hard.models)[0]
    told = f"Cost: paraphrases of another form ({', '.join(hard.sets)}) are told best by {best}, with an accuracy of "
    told += f"{hard.told(best)}; on PAWS, where the order of words decides, it has {paws.told(best)}"
    if (first := paws.ranked(paws.models)[0]) != best:
        told += f", {paws.difference(first, best)} below {first}"
    return f"{told}."


def _counts(kind: str, score: Score) -> bool:
    name = score.subset.partition(" (")[0]
    if kind == "meaning":
        return (score.name, score.protocol) == ("Pearson", MEAN) and name in SIX
    if kind == "form":
        return score.name == INFORMATION and name in FORM
    return score.name == "accuracy" and (name.endswith(HARD) if kind == "hard" else name == PAWS)


def _mean(kind: str, figures: Sequence[RowFigure], sets: Sequence[str]) -> RowFigure:
    mean = mean_figure([_by_sums(figure) for figure in figures], "")
    # The sets' own settings stand with their own figures.
    of_rows = {"meaning": "Pearson, mean over domains", "form": INFORMATION}.get(kind, "accuracy")
    settings = signature(mean_of=of_rows, sets=", ".join(sets), unit="percent", rows=len(mean.rows))

    def percent(sums: NDArray[Any]) -> float:
        return (100 if kind == "form" else 1) * mean.of_sums(sums, len(mean.rows))

    return RowFigure(kind, mean.rows, settings, percent, digits=1)


def _by_sums(figure: RowFigure) -> RowFigure:
    """The same figure, made of sums alone: one that is a mean over rows gets a column that counts them."""
    if figure.value is not None:
        return figure
    counted = np.concatenate([figure.rows, np.ones((len(figure.rows), 1))], axis=1)
    return replace(figure, rows=counted, value=lambda sums: float(sums[0] / sums[1]))
