"""Figures of judges of meaning on `judge_sets`, with bounds by sentence, and their tables."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from paraform.evaluation.bootstrap import bootstrap_interval
from paraform.evaluation.embedding.detection import average_precision, roc_auc, tuned_accuracy
from paraform.evaluation.metrics import RowMetric
from paraform_papers.shipped.judge_sets import JudgedSet

BINS = 10  # of the calibration error, of equal width
KINDS = ("made, held out", "written")  # sets whose kinds the table has
LEAST_KIND = 8  # negatives of a kind, lest its figure says nothing


def figures(found_N: NDArray[np.float64], one: JudgedSet, threshold: float, *, calibrated: bool) -> dict[str, Any]:
    """A set's figures, of what was thought of its pairs.

    Args:
        threshold: of "the same", for the accuracy; what is asked of one direction has none.
    """
    labels_N = np.array(one.labels)
    out: dict[str, Any] = {
        "AUC": with_bounds(by_sentence(roc_auc(found_N, labels_N), one)),
        "AP": round(average_precision(found_N, labels_N).over(), 2),
    }
    if one.asks == "same":
        out["accuracy"] = round(tuned_accuracy(found_N, labels_N, threshold).over(), 2)
    if calibrated:
        out["calibration error"] = round(calibration_error(found_N, labels_N), 4)
    if one.kinds:
        kinds = np.array(one.kinds)
        often = [kind for kind in sorted({*one.kinds} - {""}) if (kinds == kind).sum() >= LEAST_KIND]
        chosen = {kind: (kinds == kind) | labels_N for kind in often}
        out["AUC by kind"] = {
            kind: round(roc_auc(found_N[rows], labels_N[rows]).over(), 2) for kind, rows in chosen.items()
        }
    return out


def by_sentence(metric: RowMetric, one: JudgedSet) -> RowMetric:
    """The metric, its rows the set's first sentences: whatever is resampled, a sentence's pairs stay together."""
    _, rows_N = np.unique([left for left, _ in one.pairs], return_inverse=True)

    def value(times_G: NDArray[Any]) -> float:
        return metric.of_sums(times_G[rows_N], len(rows_N))

    return replace(metric, rows=np.empty((rows_N.max() + 1, 0), np.bool_), value=value)


def with_bounds(metric: RowMetric) -> list[float]:
    """The metric and the middle 95 % over resamples."""
    return [round(value, 2) for value in (metric.over(), *bootstrap_interval(metric))]


def more_than(found_N: NDArray[np.float64], other_N: NDArray[np.float64], one: JudgedSet) -> list[float]:
    """How much greater the AUC of the first is than that of the second, with bounds, of the same resamples."""
    areas = [by_sentence(roc_auc(some, np.array(one.labels)), one) for some in (found_N, other_N)]
    count = len(areas[0].rows)
    return with_bounds(
        replace(areas[0], value=lambda times_G: areas[0].of_sums(times_G, count) - areas[1].of_sums(times_G, count))
    )


def calibration_error(found_N: NDArray[np.float64], labels_N: NDArray[np.bool_]) -> float:
    """Σ n_b / N · |share of b that says the same − mean of b|, over `BINS` bins of what was thought (Guo 2017)."""
    bins = np.minimum((found_N * BINS).astype(int), BINS - 1)
    gaps = [abs(float(labels_N[bins == b].sum() - found_N[bins == b].sum())) for b in range(BINS)]
    return sum(gaps) / len(found_N)


def table(results: Path) -> list[str]:
    """Lines of Markdown: a row for each set, the AUC of each judge; then what else is told of calibrated ones."""
    files = sorted(results.glob("*/*.json"), key=lambda path: (path.stem, path.parent.name))
    reports: dict[str, Mapping[str, Any]] = {
        f"{file.stem}, {file.parent.name}": json.loads(file.read_text(encoding="utf-8")) for file in files
    }
    sets = list(dict.fromkeys(head for report in reports.values() for head in report if head != "threshold"))
    lines = [f"| AUC | {' | '.join(reports)} |", f"| --- |{' ---: |' * len(reports)}"]
    for one in sets:
        bounds = [report[one]["AUC"] if one in report else None for report in reports.values()]
        cells = ["" if found is None else f"{found[0]:.1f} ({found[1]:.1f} to {found[2]:.1f})" for found in bounds]
        lines.append(f"| {' | '.join([one, *cells])} |")
    for name, report in reports.items():
        told = {one: report[one] for one in sets if "calibration error" in report.get(one, ())}
        if told:
            lines += ["", f"| {name} | AP | accuracy | calibration error |", "| --- | ---: | ---: | ---: |"]
            lines += [
                f"| {one} | {found['AP']:.1f} | {_cell(found.get('accuracy'))} | {found['calibration error']:.3f} |"
                for one, found in told.items()
            ]
    own = {
        (name, one): report[one]["AUC by kind"]
        for name, report in reports.items()
        for one in KINDS
        if {"AUC by kind", "calibration error"} <= {*report.get(one, ())}
    }
    if own:
        lines += ["", f"| AUC by kind | {' | '.join(f'{name}: {one}' for name, one in own)} |"]
        lines += [f"| --- |{' ---: |' * len(own)}"]
        for kind in sorted({kind for found in own.values() for kind in found}):
            lines.append(f"| `{kind}` | {' | '.join(_cell(found.get(kind)) for found in own.values())} |")
        lines.append(f"| mean | {' | '.join(_cell(float(np.mean([*found.values()]))) for found in own.values())} |")
    return lines


def _cell(value: float | None) -> str:
    return "" if value is None else f"{value:.1f}"
