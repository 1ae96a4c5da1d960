"""What the metrics of several spaces come to: how much meaning, how much form, and what forgetting form costs."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from paraform.evaluation.bootstrap import paired_bootstrap, with_interval
from paraform.evaluation.embedding.correlation import mean_metric
from paraform.evaluation.embedding.task import Finding
from paraform.evaluation.metrics import RowMetric, ratio
from paraform.score import Score, signature

KINDS = ("meaning", "form", "hard", "paws")


@dataclass(frozen=True, eq=False, slots=True)
class Summary:
    """A metric of several sets for each system, the models before the floors.

    Args:
        kind: one of `KINDS`.
        sets: what the mean is over.
        metrics: of each system that has one.
        models: the systems that are no floor.
        resamples: of the intervals.
    """

    kind: str
    sets: tuple[str, ...]
    metrics: dict[str, RowMetric]
    models: tuple[str, ...]
    resamples: int

    def score(self, system: str) -> Score:
        """The metric of a system with its interval, if there are resamples."""
        metric = self.metrics[system]
        score = metric.score(system=system, subset=", ".join(self.sets))
        return with_interval(score, metric, resamples=self.resamples) if self.resamples else score

    def ranked(self, systems: Iterable[str]) -> list[str]:
        """Those of the systems that have a metric, the highest first."""
        return sorted((name for name in systems if name in self.metrics), key=lambda name: -self.metrics[name].over())

    @property
    def floors(self) -> list[str]:
        """The systems that are no models."""
        return [name for name in self.metrics if name not in self.models]

    def difference(self, first: str, second: str) -> str:
        """`first − second` with the interval of the paired bootstrap: `3.1 (95 %: 2.0 to 4.2)`."""
        pair = (self.metrics[first], self.metrics[second])
        if not self.resamples:
            return f"{pair[0].over() - pair[1].over():.1f}"
        found = paired_bootstrap(*pair, resamples=self.resamples)
        luck = ", which may be luck" if found.low <= 0 <= found.high else ""
        return f"{found.difference:.1f} (95 %: {found.low:.1f} to {found.high:.1f}{luck})"

    def told(self, system: str, unit: str = "") -> str:
        """The metric in words: `78.3 (95 %: 77.5 to 79.1)`."""
        score = self.score(system)
        value = f"{score.value:.1f}{unit}"
        return value if score.low is None else f"{value} (95 %: {score.low:.1f} to {score.high:.1f})"


class Point(NamedTuple):
    """A system in the picture; `form` is None where no probe can be trained."""

    system: str
    floor: bool
    meaning: Score
    form: Score | None


def summaries(findings: Mapping[str, Sequence[Finding]], models: Sequence[str], resamples: int) -> dict[str, Summary]:
    """Those of these that there are findings for, by their kinds.

    - meaning: the mean of Pearson (mean over domains) over STS12 to 16 and STS-B, or those of them that were measured;
    - form: the mean over BShift, TreeDepth and TopConst of the accuracy above chance, in percent of what is above it;
    - hard: the mean accuracy on the hard halves, with thresholds of other pairs; paws: the same of PAWS.

    Args:
        findings: by `KINDS`, what counts for each (`Family.counts`).
        models: the systems that are no floors.
        resamples: of each interval; 0: none.
    """
    made: dict[str, Summary] = {}
    for kind in KINDS:
        chosen = [finding for finding in findings.get(kind, ()) if finding.metric is not None]
        sets = tuple(dict.fromkeys(finding.score.subset for finding in chosen))
        metrics: dict[str, RowMetric] = {}
        for system in dict.fromkeys(finding.score.system for finding in chosen):
            # A set may be measured by several protocols; the first one counts.
            first: dict[str, RowMetric] = {}
            for finding in chosen:
                if finding.score.system == system and finding.metric is not None:
                    first.setdefault(finding.score.subset, finding.metric)
            if len(first) == len(sets):
                metrics[system] = _mean(kind, [first[name] for name in sets], sets)
        if any(model in metrics for model in models):
            known = [*(name for name in models if name in metrics), *(name for name in metrics if name not in models)]
            made[kind] = Summary(kind, sets, {name: metrics[name] for name in known}, tuple(models), resamples)
    return made


def points(found: dict[str, Summary]) -> list[Point]:
    """Every system whose meaning was measured; none if it was measured of none, or form of none."""
    if "meaning" not in found or "form" not in found:
        return []
    meaning, form = found["meaning"], found["form"]
    return [
        Point(name, name in meaning.floors, meaning.score(name), form.score(name) if name in form.metrics else None)
        for name in meaning.metrics
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


def _mean(kind: str, metrics: Sequence[RowMetric], sets: Sequence[str]) -> RowMetric:
    mean = mean_metric([_by_sums(metric) for metric in metrics], "")
    # The sets' own settings stand with their own metrics.
    of_rows = f"{metrics[0].name}, mean over domains" if kind == "meaning" else metrics[0].name
    settings = signature(mean_of=of_rows, sets=", ".join(sets), unit="percent", rows=len(mean.rows))

    def percent(sums: NDArray[Any]) -> float:
        return (100 if kind == "form" else 1) * mean.of_sums(sums, len(mean.rows))

    return RowMetric(kind, mean.rows, settings, percent, digits=1)


def _by_sums(metric: RowMetric) -> RowMetric:
    """The same metric, made of sums alone: one that is a mean over rows gets a column that counts them."""
    if metric.value is not None:
        return metric
    counted = np.concatenate([metric.rows, np.ones((len(metric.rows), 1))], axis=1)
    return replace(metric, rows=counted, value=ratio)
