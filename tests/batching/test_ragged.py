"""Ragged rows side by side."""

from __future__ import annotations

import numpy as np
import torch

from paraform.batching import Ragged


def test_ragged_rows_side_by_side() -> None:
    table = Ragged.of([[5, 6, 7], [], [8]])
    rows = np.array([2, 0, 1, 2])
    padded, lengths = table.padded(rows)
    assert padded.tolist() == [[8, 0, 0], [5, 6, 7], [0, 0, 0], [8, 0, 0]] and padded.dtype == torch.int64
    assert lengths.tolist() == table.lengths(rows).tolist() == [1, 3, 0, 1]
    assert table.padded(np.array([1]))[0].shape == (1, 0)
    assert Ragged.of([]).padded(np.array([], np.int64))[0].shape == (0, 0)
    states = Ragged(np.arange(8, dtype=np.float16).reshape(4, 2) + 1, table.offsets)
    padded, lengths = states.padded(rows[:2])
    assert padded.tolist() == [[[7, 8], [0, 0], [0, 0]], [[1, 2], [3, 4], [5, 6]]] and padded.dtype == torch.float32
    assert states.values[0, 0] == 1  # what was asked for was a copy
