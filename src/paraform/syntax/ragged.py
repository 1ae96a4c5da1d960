"""Rows of unequal length in two arrays: what the exemplar index gathers from."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

Integers: TypeAlias = NDArray[np.int64]


class Ragged(NamedTuple):
    """Rows of unequal length: row i is values[starts[i] : starts[i + 1]]."""

    values: Integers
    starts: Integers

    @classmethod
    def of(cls, rows: Sequence[Sequence[int]]) -> Ragged:
        starts = np.zeros(len(rows) + 1, np.int64)
        np.cumsum([len(row) for row in rows], out=starts[1:])
        return cls(np.fromiter((value for row in rows for value in row), np.int64, starts[-1]), starts)

    def places(self, rows: Integers) -> tuple[Integers, Integers]:
        """Where the values of these rows stand in `values`, row after row, and where each row begins among them."""
        lengths = self.starts[rows + 1] - self.starts[rows]
        begins = np.cumsum(lengths) - lengths
        return np.arange(lengths.sum()) + np.repeat(self.starts[rows] - begins, lengths), begins
