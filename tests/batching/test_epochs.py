"""How many rows of each group an epoch has, and which."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest

from paraform.batching import batches_of_like, drawn_rows, share_counts
from paraform.records import InputError


def test_counts_are_the_sizes_or_the_shares_of_all() -> None:
    sizes = np.array([10, 30, 60])
    assert share_counts(sizes, ()) == [10, 30, 60]
    assert share_counts(sizes, (1, 1, 2)) == [25, 25, 50] == share_counts(sizes, (0.5, 0.5, 1))
    for shares in ((1, 1), (1, 0, 1), (1, float("inf"), 1)):
        with pytest.raises(InputError, match="of 3 files of pairs; expected a number above 0 for each"):
            share_counts(sizes, shares)


def test_no_row_is_drawn_once_more_than_another() -> None:
    rows = np.arange(5, 12)
    for count in (3, 7, 17):
        times = Counter(drawn_rows(rows, count, np.random.default_rng(0)).tolist())
        assert times.total() == count and set(times) <= set(rows.tolist())
        assert set(times[row] for row in rows.tolist()) <= {count // 7, -(-count // 7)}


def test_batches_hold_what_is_as_long() -> None:
    """Every row once; within a pool no two batches overlap in length, and the second length decides first."""
    random = np.random.default_rng(0)
    one, other = random.integers(0, 9, (2, 60))
    shuffled = random.permutation(60)
    found = batches_of_like(shuffled, (one, other), batch_size=5, pool=4, random=np.random.default_rng(1))
    assert found.shape == (12, 5) and sorted(found.ravel().tolist()) == list(range(60))
    batches = {tuple(sorted(row)) for row in found.tolist()}
    for start in range(0, 60, 20):
        ordered = sorted(shuffled[start : start + 20].tolist(), key=lambda row: (other[row], one[row]))
        keys = [(other[row], one[row]) for row in ordered]
        for at in range(0, 20, 5):
            inside = [key for key in keys if keys[at] <= key <= keys[at + 4]]
            if len(inside) == 5:  # no tie with the next batch
                assert tuple(sorted(ordered[at : at + 5])) in batches
