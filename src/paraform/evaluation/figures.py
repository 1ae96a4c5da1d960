"""A figure kept row by row, so that a part of the rows or a resample of them is measured without scoring again."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from paraform.score import Score

EVERY = slice(None)


@dataclass(frozen=True, eq=False, slots=True)
class RowFigure:
    """One figure of one system.

    Args:
        rows: [N, K], what each row adds to the sums that the figure is made of.
        signature: every setting that changes it.
        value: from the sums, [K], to the figure; None: the mean over rows of the only column.
        digits: after the decimal point, when printed.
    """

    name: str
    rows: NDArray[Any]
    signature: str
    value: Callable[[NDArray[Any]], float] | None = None
    digits: int = 2

    def of_sums(self, sums: NDArray[Any], count: int) -> float:
        """The figure of `count` rows that add up to `sums`, [K]."""
        return float(sums[0] / count) if self.value is None else self.value(sums)

    def over(self, chosen: NDArray[np.int64] | slice = EVERY) -> float:
        """The figure of the rows of these numbers."""
        rows = self.rows[chosen]
        return self.of_sums(rows.sum(axis=0, dtype=np.float64), len(rows))

    def score(
        self, chosen: NDArray[np.int64] | slice = EVERY, *, system: str = "", protocol: str = "", subset: str = "all"
    ) -> Score:
        """The figure of these rows as a `Score`."""
        return Score(self.name, self.over(chosen), self.signature, system, protocol, subset, self.digits)


def row_mean(name: str, values: NDArray[Any], settings: str, digits: int = 2) -> RowFigure:
    """A figure that is the mean of one value a row, [N]."""
    return RowFigure(name, np.asarray(values, dtype=np.float64)[:, None], settings, None, digits)
