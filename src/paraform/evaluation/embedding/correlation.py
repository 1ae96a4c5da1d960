"""Pearson's and Spearman's correlation of similarities with gold scores, over the domains of a set, as row metrics.

A correlation is made of six sums: of 1, x, y, x², y² and xy. Each row holds what it adds to them, in the columns of
its own domain, so that a resample of rows is measured by adding.

Shape key: N pairs, D domains.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from paraform.evaluation.metrics import RowMetric
from paraform.evaluation.preparation import require
from paraform.score import signature

SUMS = 6
CONSTANT = 1e-9
"""A variance below this share of the variance of all rows is none; float64 sums of 10⁴ rows are right to 10⁻¹²."""

MEAN, WEIGHTED, ALL = "mean over domains", "weighted by pairs", "all pairs at once"
AVERAGES = (MEAN, WEIGHTED, ALL)

Correlations = dict[tuple[str, str], RowMetric]
"""By name, Pearson or Spearman, and by average, one of `AVERAGES`."""


def correlations(
    found: Sequence[NDArray[np.float64]], gold: Sequence[NDArray[np.float64]], settings: str
) -> Correlations:
    """Pearson and Spearman, × 100, in three ways of putting domains together.

    "mean over domains" is SentEval's `mean` (ParaBART's tables), "weighted by pairs" its `wmean`, and "all pairs at
    once" one correlation of the set's concatenated pairs (SimCSE's `all`). The correlation of what is constant is 0, as
    SentEval has it. Spearman is Pearson of the ranks among all rows of the domain (of the set, for all pairs at once);
    a resample keeps those ranks.

    Args:
        found, gold: of each domain, [N].
        settings: what else changes the metrics, for their signatures.
    """
    rank = require("scipy.stats", "Spearman").rankdata
    metrics: Correlations = {}
    for name, scale in (("Pearson", lambda values: values), ("Spearman", rank)):
        whole = [(scale(np.concatenate(found)), scale(np.concatenate(gold)))]
        parts = [(scale(x_N), scale(y_N)) for x_N, y_N in zip(found, gold, strict=True)]
        for average in AVERAGES:
            rows = _rows(whole if average == ALL else parts)
            signed = f"{correlation_signature(name, average)}|{settings}"
            metrics[name, average] = RowMetric(name, rows, signed, _value_of(average), digits=1)
    return metrics


def correlation_signature(name: str, average: str) -> str:
    """The settings of a correlation that no set and no space has a part in."""
    ranks = {"ranks": "of all rows"} if name == "Spearman" else {}
    return signature(unit="percent", average=average, constant=0, **ranks)


def mean_metric(metrics: Sequence[RowMetric], settings: str) -> RowMetric:
    """The mean of one metric of several sets, as a metric of all their rows."""
    widths = np.cumsum([0, *(metric.rows.shape[1] for metric in metrics)])
    lengths = np.cumsum([0, *(len(metric.rows) for metric in metrics)])
    rows = np.zeros((lengths[-1], widths[-1]))
    for at, metric in enumerate(metrics):
        rows[lengths[at] : lengths[at + 1], widths[at] : widths[at + 1]] = metric.rows

    def value(sums: NDArray[Any]) -> float:
        parts = np.split(sums, widths[1:-1])
        return float(np.mean([metric.of_sums(part, 0) for metric, part in zip(metrics, parts, strict=True)]))

    return RowMetric(metrics[0].name, rows, settings, value, metrics[0].digits)


def _rows(domains: Sequence[tuple[NDArray[np.float64], NDArray[np.float64]]]) -> NDArray[np.float64]:
    """[N, 6 D]: what each row adds to the sums of its domain, and zeros to those of others."""
    rows = np.zeros((sum(len(x_N) for x_N, _ in domains), SUMS * len(domains)))
    start = 0
    for at, (x_N, y_N) in enumerate(domains):
        x, y = _standard(x_N), _standard(y_N)
        columns = np.stack([np.ones(len(x)), x, y, x * x, y * y, x * y], axis=1)
        rows[start : start + len(x), SUMS * at : SUMS * (at + 1)] = columns
        start += len(x)
    return rows


def _standard(values_N: NDArray[np.float64]) -> NDArray[np.float64]:
    """Shifted and scaled to mean 0 and variance 1, which no correlation notices and sums of squares need."""
    centred: NDArray[np.float64] = np.asarray(values_N, dtype=np.float64) - np.mean(values_N)
    if np.ptp(values_N) == 0:
        return np.zeros_like(centred)
    centred /= np.sqrt(np.mean(centred**2))
    return centred


def _value_of(average: str) -> Callable[[NDArray[Any]], float]:
    def value(sums: NDArray[Any]) -> float:
        found_D = np.array(list(_correlations(sums.reshape(-1, SUMS))))
        weights_D = sums.reshape(-1, SUMS)[:, 0] if average == WEIGHTED else np.ones(len(found_D))
        # A resample of several sets may hold no row of this one, which is then as constant as can be.
        return 100 * float(np.average(found_D, weights=weights_D)) if weights_D.any() else 0.0

    return value


def _correlations(sums_D6: NDArray[Any]) -> Iterator[float]:
    """r = (n Σxy − Σx Σy) / √((n Σx² − (Σx)²) (n Σy² − (Σy)²)) of each domain."""
    for n, x, y, xx, yy, xy in sums_D6.tolist():
        of_x, of_y = n * xx - x * x, n * yy - y * y
        least = CONSTANT * n * n
        yield (n * xy - x * y) / (of_x * of_y) ** 0.5 if of_x > least and of_y > least else 0.0
