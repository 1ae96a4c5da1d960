"""How many rows of each group an epoch has, and which."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest

from paraform.batching.epochs import batches_of_like, drawn_by_shares, drawn_rows, epoch_batches, share_counts
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


def test_an_epoch_has_every_row_once_in_an_order_of_its_own() -> None:
    """But for what fills no batch; the rows of a step are a function of seed and step."""
    given = {"batch_size": 3, "world": 1, "what": "rows"}
    batches, steps, _ = epoch_batches(10, seed=1, **given)
    epochs = [np.concatenate([batches(epoch * steps + step) for step in range(steps)]).tolist() for epoch in range(3)]
    assert steps == 3 and all(len(set(rows)) == 9 for rows in epochs) and epochs[0] != epochs[1]
    again = epoch_batches(10, seed=1, **given).rows_of
    assert again(7).tolist() == batches(7).tolist() != epoch_batches(10, seed=2, **given)[0](7).tolist()
    with pytest.raises(InputError, match="2 rows; expected at least one batch of 3"):
        epoch_batches(2, seed=1, **given)


def test_an_epochs_batches_are_those_of_like_rows() -> None:
    """Of the rows that are drawn; all of the same length stand together in one pool."""
    length = np.arange(12) // 3
    batches, steps, _ = epoch_batches(12, batch_size=3, seed=0, world=1, what="rows", lengths=(length,))
    assert sorted(batches(step).tolist() for step in range(steps)) != [[0, 1, 2]]  # the batches are shuffled, too
    assert {frozenset(batches(step).tolist()) for step in range(steps)} == {
        frozenset(range(at, at + 3)) for at in range(0, 12, 3)
    }
    groups = np.array([0] * 9 + [1] * 3)
    some = epoch_batches(12, batch_size=4, seed=0, what="rows", shuffle=drawn_by_shares(groups, (1, 1))).rows_of
    drawn = np.concatenate([some(step) for step in range(3)])
    assert (drawn >= 9).sum() == 6 and max(Counter(drawn.tolist()).values()) == 2
