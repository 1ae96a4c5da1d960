"""Rows of different lengths as one table.

Shape key: B rows picked, T values of the longest, N values of all rows end to end, D features.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, final

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor


@final
@dataclass(frozen=True)
class Ragged:
    """Rows of different lengths, end to end: row i is `values[offsets[i]:offsets[i + 1]]`; values [N] or [N, D]."""

    values: npt.NDArray[Any]
    offsets: npt.NDArray[np.int64]

    @classmethod
    def of(cls, rows: Sequence[Sequence[int]]) -> Ragged:
        """From rows of numbers."""
        offsets = np.concatenate([[0], np.cumsum([len(row) for row in rows], dtype=np.int64)])
        return cls(np.array([number for row in rows for number in row], np.int32), offsets)

    def lengths(self, rows: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
        """[B] lengths of the given rows."""
        return self.offsets[rows + 1] - self.offsets[rows]

    def joined(self, rows: npt.NDArray[np.int64]) -> npt.NDArray[Any]:
        """The values of the given rows, end to end."""
        lengths = self.lengths(rows)
        starts = np.repeat(self.offsets[rows] - (np.cumsum(lengths) - lengths), lengths)
        return self.values[starts + np.arange(len(starts))]

    def padded(self, rows: npt.NDArray[np.int64]) -> tuple[Tensor, Tensor]:
        """The given rows side by side, zeros behind the short ones: [B, T] int64 or [B, T, D] float32; lengths [B]."""
        lengths = self.lengths(rows)
        within_T = np.arange(int(lengths.max(initial=0)))
        there_BT = within_T < lengths[:, None]
        at_BT = np.where(there_BT, self.offsets[rows][:, None] + within_T, 0)
        values = np.asarray(self.values[at_BT.ravel()]).reshape(*at_BT.shape, *self.values.shape[1:])
        values[~there_BT] = 0
        wide = torch.from_numpy(values)
        return wide.float() if wide.is_floating_point() else wide.long(), torch.from_numpy(lengths)
