"""A metric kept row by row, so that a part of the rows or a resample of them is measured without scoring again."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from paraform.score import Score

EVERY = slice(None)


@dataclass(frozen=True, eq=False, slots=True)
class RowMetric:
    """One metric of one system.

    Args:
        rows: [N, K], what each row adds to the sums that the metric is made of; with K = 0 these are how often each
            row was drawn, [N], for a metric that no sums of a few columns make.
        signature: every setting that changes it.
        value: from the sums, [K], to the metric; None: the mean over rows of the only column.
        digits: after the decimal point, when printed.
    """

    name: str
    rows: NDArray[Any]
    signature: str
    value: Callable[[NDArray[Any]], float] | None = None
    digits: int = 2

    def sums(self, drawn_RN: NDArray[np.float64]) -> NDArray[np.float64]:
        """The sums of each of R draws, [R, K], by how often it has each row."""
        return drawn_RN @ self.rows.astype(np.float64) if self.rows.shape[1] else drawn_RN

    def of_sums(self, sums: NDArray[Any], count: int) -> float:
        """The metric of `count` rows that add up to `sums`, [K]."""
        return float(sums[0] / count) if self.value is None else self.value(sums)

    def over(self, chosen: NDArray[np.int64] | slice = EVERY) -> float:
        """The metric of the rows of these numbers."""
        rows = self.rows[chosen]
        if self.rows.shape[1]:
            return self.of_sums(rows.sum(axis=0, dtype=np.float64), len(rows))
        drawn_N = np.bincount(np.arange(len(self.rows))[chosen], minlength=len(self.rows))
        return self.of_sums(drawn_N.astype(np.float64), len(rows))

    def score(
        self, chosen: NDArray[np.int64] | slice = EVERY, *, system: str = "", protocol: str = "", subset: str = "all"
    ) -> Score:
        """The metric of these rows as a `Score`."""
        return Score(self.name, self.over(chosen), self.signature, system, protocol, subset, self.digits)


def row_mean(name: str, values: NDArray[Any], settings: str, digits: int = 2) -> RowMetric:
    """A metric that is the mean of one value a row, [N]."""
    return RowMetric(name, np.asarray(values, dtype=np.float64)[:, None], settings, None, digits)


def ratio(sums: NDArray[Any]) -> float:
    """The first of two sums by the second: a mean over what that counts."""
    return float(sums[0] / sums[1])
