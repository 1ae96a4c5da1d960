"""Metrics of shared words' distances, of one system or of two side by side (PAR; Shi et al. 2019, Table 4); a plot."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from paraform.evaluation.bootstrap import Comparison
from paraform.evaluation.embedding.distances import Measured, WordSystem, measure_distances
from paraform.evaluation.embedding.measuring import bounded, differences_of
from paraform.evaluation.embedding.shared_words import SharedWordSet, Words
from paraform.evaluation.embedding.task import Finding, signed_finding
from paraform.evaluation.metrics import RowMetric, ratio
from paraform.evaluation.pictures import save_plot
from paraform.extensions import needed
from paraform.records import InputError
from paraform.score import Score, signature, table
from paraform.weights import PathLike

BINS = 50
COLOURS = ("tab:blue", "tab:orange")
LINES = ("--", ":")
SHAPE = ("‖I − MᵀM‖_F", "least singular value", "median singular value", "largest singular value")
METRICS = {
    "L2": signature(distance="length of the difference", mean="words"),
    "cosine": signature(distance="1 − cosine, 1 where a state has no length", mean="words"),
    "ratio": signature(means="paraphrases / others"),
    ">": signature(unit="percent of words"),
    **{name: signature(of="M") for name in SHAPE},
}
"""The settings of each metric that no set and no system has a part in, by what its name is, or holds."""


@final
@dataclass(frozen=True, eq=False, slots=True)
class DistanceReport:
    """What systems make of sets.

    Args:
        measured: of each system, each set, in their orders.
        scores: the metrics, with their intervals if these were wanted.
        differences: the first system − the other one, of each metric that has rows.
    """

    sets: Sequence[SharedWordSet]
    systems: Sequence[WordSystem]
    measured: Sequence[Sequence[Measured]]
    scores: Sequence[Score]
    differences: Sequence[Comparison]

    @property
    def notes(self) -> list[str]:
        """A line for each set that lacks a sentence with a word of a reference."""
        lines = []
        for one, found in zip(self.sets, self.measured[0], strict=True):
            counts = [each for known in found.references for each in zip(known.words, known.contexts, strict=True)]
            if missing := [repr(word) for word, count in counts if not count]:
                lines.append(f"{one.name}: no sentence with {' or '.join(missing)}, so no distance of that word")
        return lines

    def table(self) -> str:
        """A row for each kind of pairs, set and system; what each metric, set and system is; and the differences."""
        shown = []
        for score in self.scores:
            kind = next((kind for kind in (">", "ratio") if kind in score.name), score.name)
            shown.append(replace(score, signature=METRICS[kind]))  # those of sets and systems are told once, below
        lines = [table(shown), *(f"{one.name}: {one.settings}" for one in self.sets)]
        for one, found in zip(self.sets, self.measured[0], strict=True):
            lines += [f"{one.name}, {known.name}: {known.settings}" for known in found.references]
        lines += [f"{one.name}: {one.signature}" for one in self.systems]
        return "\n".join([*lines, *([""] if self.differences else []), *map(str, self.differences)])

    def to_json(self) -> dict[str, Any]:
        """A JSON object of the scores and the differences."""
        return {
            "models": [system.name for system in self.systems],
            "scores": [score.to_json() for score in self.scores],
            "differences": [difference.to_json() for difference in self.differences],
            "notes": self.notes,
        }

    def draw(self, path: PathLike) -> None:
        """Write the share of shared words by their L2 distance, in paraphrases and in others; their means, references.

        A PNG; a kill leaves the old picture or the new one.
        """
        needed("matplotlib", "a picture", "eval")
        from matplotlib.figure import Figure

        figure = Figure(figsize=(1 + 4 * len(self.sets), 1 + 3 * len(self.systems)), layout="constrained")
        for row, (system, of_system) in enumerate(zip(self.systems, self.measured, strict=True)):
            for column, (one, found) in enumerate(zip(self.sets, of_system, strict=True)):
                axes = figure.add_subplot(len(self.systems), len(self.sets), 1 + row * len(self.sets) + column)
                axes.set_title(f"{system.name}, {one.name}{matrix_line(system)}", fontsize="medium")
                axes.set_xlabel("L2 distance of a shared word")
                axes.set_ylabel("density")
                kinds = {
                    "paraphrases": found.paraphrases.l2_W,
                    "mined others" if one.mined else "others": found.others.l2_W,
                }
                most = max(float(values_W.max()) for values_W in kinds.values()) or 1.0
                for colour, (kind, values_W) in zip(COLOURS, kinds.items(), strict=True):
                    label = f"{kind}, mean {values_W.mean():.2f}"
                    axes.hist(
                        values_W, bins=BINS, range=(0.0, most), density=True, histtype="step", color=colour, label=label
                    )
                    axes.axvline(float(values_W.mean()), color=colour, linewidth=1)
                for style, known in zip(LINES, found.references, strict=True):
                    if not math.isnan(known.l2):
                        axes.axvline(known.l2, color="black", linestyle=style, label=f"{known.name}, {known.l2:.2f}")
                of_means = kinds["paraphrases"].mean() / (list(kinds.values())[1].mean() or math.nan)
                axes.legend(fontsize="small", title=f"ratio of the means {of_means:.3f}", title_fontsize="small")
        save_plot(figure, Path(path))


def evaluate_distances(
    sets: Sequence[SharedWordSet],
    systems: Sequence[WordSystem],
    *,
    contexts: Sequence[Words] | None = None,
    resamples: int = 1000,
    seed: int = 0,
) -> DistanceReport:
    """Distances of shared words in each set, by each system.

    Args:
        systems: one, or several to be compared with the first.
        contexts: sentences for the reference distances; None: each set's own.
        resamples: draws of the bootstrap over pairs; 0: no intervals and no differences.
        seed: of the draw of contexts.
    Raises: InputError if two systems have one name, or a system's states are not finite.
    """
    names = [system.name for system in systems]
    if len(set(names)) < len(names):
        raise InputError(f"two models are called {names[0]!r}; expected names that differ")
    measured = [[measure_distances(one, system, contexts=contexts, seed=seed) for one in sets] for system in systems]
    findings = [
        finding
        for at, one in enumerate(sets)
        for system, found in zip(systems, measured, strict=True)
        for finding in distance_findings(one, system, found[at])
    ]
    findings += [finding for system in systems for finding in matrix_findings(system)]
    return DistanceReport(
        sets, systems, measured, bounded(findings, resamples), differences_of(findings, names, resamples)
    )


def distance_findings(one: SharedWordSet, system: WordSystem, measured: Measured) -> list[Finding]:
    """The metrics of a set: mean distances, the share of words above each reference, and the ratio of the means.

    A mean is over words, a resample is of pairs; reference distances are taken as they are. A matrix that shrinks the
    space lowers both means, and leaves the ratio.
    """
    findings = []
    first, second = "paraphrases", "mined others" if one.mined else "others"
    sums: dict[tuple[str, str], NDArray[np.float64]] = {}
    for kind, distances, pairs in (
        (first, measured.paraphrases, one.paraphrases),
        (second, measured.others, one.others),
    ):
        for name, values_W in (("L2", distances.l2_W), ("cosine", distances.cosine_W)):
            sums[kind, name] = _sums(distances.pair_W, values_W, len(pairs))
            metrics = [RowMetric(name, sums[kind, name], METRICS[name], ratio)]
            for known in measured.references:
                far = known.l2 if name == "L2" else known.cosine
                if not math.isnan(far):
                    shares_N2 = _sums(distances.pair_W, np.where(values_W > far, 100.0, 0.0), len(pairs))
                    settings = f"{METRICS['>']}|{known.settings}"
                    metrics.append(RowMetric(f"{name} > {known.name}", shares_N2, settings, ratio, 1))
            findings += [_finding(metric, one, system, f"{one.name}, {kind}") for metric in metrics]
    for name in ("L2", "cosine"):
        # Pairs of one kind have nothing to do with those of the other: a resample draws of all.
        ours_N2, theirs_N2 = sums[first, name], sums[second, name]
        rows_N4 = np.block([[ours_N2, np.zeros_like(ours_N2)], [np.zeros_like(theirs_N2), theirs_N2]])
        metric = RowMetric(f"{name} ratio", rows_N4, METRICS["ratio"], _ratio, 3)
        findings.append(_finding(metric, one, system, f"{one.name}, {first}"))
    for known in measured.references:
        for name, value in (("L2", known.l2), ("cosine", known.cosine)):
            settings = f"{METRICS[name]}|{known.settings}|{system.signature}"
            findings.append(Finding(Score(name, value, settings, system.name, "", f"{one.name}, {known.name}")))
    return findings


def matrix_findings(system: WordSystem) -> list[Finding]:
    """How far a system's M is from an orthogonal one; nothing of a system without M."""
    return [
        Finding(Score(name, value, f"{METRICS[name]}|{system.signature}", system.name, "", "M", digits=3))
        for name, value in zip(SHAPE, system.shape or (), strict=system.shape is not None)
    ]


def _sums(pair_W: NDArray[np.int64], values_W: NDArray[np.float64], pairs: int) -> NDArray[np.float64]:
    """What each pair adds to a mean over words: their sum and their number, [N, 2]."""
    return np.stack([np.bincount(pair_W, values_W, pairs), np.bincount(pair_W, minlength=pairs)], axis=1)


def _ratio(sums: NDArray[Any]) -> float:
    """Of two means; NaN where a resample has pairs of one kind alone, or no distance."""
    ours, theirs = (part[0] / part[1] if part[1] else math.nan for part in (sums[:2], sums[2:]))
    return float(ours / theirs) if theirs else math.nan


def _finding(metric: RowMetric, one: SharedWordSet, system: WordSystem, subset: str) -> Finding:
    return signed_finding(replace(metric, signature=f"{metric.signature}|{one.settings}"), system, subset)


def matrix_line(system: WordSystem) -> str:
    """A line on a system's M; nothing without one."""
    if system.shape is None:
        return ""
    penalty, least, median, largest = system.shape
    return f"\n‖I − MᵀM‖ {penalty:.2f}, singular values {least:.2f}, {median:.2f}, {largest:.2f}"
