"""Batches of triples by length."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from itertools import pairwise

import numpy as np
import pytest
import torch

from paraform.batching import Ragged
from paraform.models.exemplar.batches import PickedStates, TripleBatch, TripleTable, by_length
from paraform.records import InputError

TRIPLES, SENTENCES = 50, 40


@pytest.fixture(scope="module")
def table() -> TripleTable:
    """Random triples; each fifth has no exemplar. Sentence i is i + 4, repeated."""
    random = np.random.default_rng(0)
    lengths = random.integers(1, 12, SENTENCES)
    rows = Ragged.of([[number + 4] * int(length) for number, length in enumerate(lengths)])
    kept = np.arange(TRIPLES) % 5  # how many exemplars a triple has
    exemplars = np.where(np.arange(4) < kept[:, None], random.integers(0, SENTENCES, (TRIPLES, 4)), -1)
    source, target = random.integers(0, SENTENCES, (2, TRIPLES))
    return TripleTable(rows, rows, source, target, exemplars, np.arange(TRIPLES) + 1000)


def drawn(table: TripleTable, batches: Callable[[int], TripleBatch], step: int) -> list[int]:
    """The triples of a batch, by their cluster; each one's tensors are checked against the table."""
    batch = batches(step)
    rows = [cluster - 1000 for cluster in batch.clusters_B.tolist()]

    def sentence(values: torch.Tensor, lengths: torch.Tensor, place: int) -> int:
        number = int(values[place, 0]) - 4
        length = int(table.words.lengths(np.array([number]))[0])
        padding = [0] * (values.shape[1] - length)
        assert int(lengths[place]) == length and values[place].tolist() == [number + 4] * length + padding
        return number

    for place, row in enumerate(rows):
        assert sentence(batch.source_BT, batch.source_lengths_B, place) == table.source[row]
        assert sentence(batch.target_BT, batch.target_lengths_B, place) == table.target[row]
        assert sentence(*batch.target_style[:2], place) == table.target[row]
        assert sentence(*batch.exemplar[:2], place) in table.exemplars[row][table.exemplars[row] >= 0]
    return rows


@pytest.mark.parametrize("size", [2, 6, 40])
def test_every_usable_triple_once_an_epoch(size: int, table: TripleTable) -> None:
    batches, steps = by_length(table, batch_size=size, seed=0)
    assert len(table) == TRIPLES and steps == 40 // size
    epochs = [[drawn(table, batches, step + epoch * steps) for step in range(steps)] for epoch in range(3)]
    for epoch in epochs:
        rows = [row for batch in epoch for row in batch]
        assert len(rows) == len(set(rows)) == steps * size
        assert all(row % 5 for row in rows)  # the others have no exemplar
    assert size == 40 or epochs[0] != epochs[1] != epochs[2]


def test_a_pure_function_of_seed_and_step(table: TripleTable) -> None:
    forward, steps = by_length(table, batch_size=6, seed=3)
    backward, _ = by_length(table, batch_size=6, seed=3)
    other, _ = by_length(table, batch_size=6, seed=4)
    assert str([forward(step) for step in range(3 * steps)]) == str(
        [backward(step) for step in reversed(range(3 * steps))][::-1]
    )
    assert str([forward(step) for step in range(steps)]) != str([other(step) for step in range(steps)])


def test_epochs_take_turns_with_exemplars(table: TripleTable) -> None:
    """Whatever was asked before, step by step; the first deal's are drawn as without the others."""
    other = np.where(table.exemplars >= 0, (table.exemplars + 7) % SENTENCES, -1)
    both = dataclasses.replace(table, further=[other])
    batches, steps = by_length(both, batch_size=6, seed=3)
    alone, _ = by_length(table, batch_size=6, seed=3)
    for step in (4 * steps, steps, 0, steps - 1, 2 * steps, steps + 1):
        batch, first = batches(step), alone(step)
        assert torch.equal(batch.source_BT, first.source_BT)
        shift = 7 * (step // steps % 2)
        expected = (first.exemplar.values[:, 0] - 4 + shift) % SENTENCES + 4
        assert torch.equal(batch.exemplar.values[:, 0], expected)


def test_states_stand_beside_their_words(table: TripleTable) -> None:
    random = np.random.default_rng(0)
    values = random.standard_normal((50, 3)).astype(np.float16)
    rows = Ragged(random.integers(0, 50, len(table.words.values)), table.words.offsets)
    given = dataclasses.replace(table, content=PickedStates(values, rows))
    batch = by_length(given, batch_size=6, seed=3)[0](2)
    assert batch.source_states is not None and batch.target_states is not None
    for states, words, lengths in (
        (batch.source_states, batch.source_BT, batch.source_lengths_B),
        (batch.target_states, batch.target_BT, batch.target_lengths_B),
    ):
        assert states.shape == (*words.shape, 3) and states.dtype == torch.float32
        for row, length in enumerate(lengths.tolist()):
            start = rows.offsets[int(words[row, 0]) - 4]
            assert states[row, :length].tolist() == values[rows.values[start : start + length]].tolist()
            assert not states[row, length:].any()
    assert by_length(table, batch_size=6, seed=3)[0](2).source_states is None


def test_processes_share_a_batch(table: TripleTable) -> None:
    whole, steps = by_length(table, batch_size=6, seed=0)
    parts = [by_length(table, batch_size=6, seed=0, rank=rank, world=3)[0] for rank in range(3)]
    for step in range(steps):
        batch, shares = whole(step), [part(step) for part in parts]
        for rank, share in enumerate(shares):
            assert share.clusters_B.tolist() == batch.clusters_B[rank::3].tolist()
            # the same exemplars were drawn
            width = share.exemplar.values.shape[1]
            assert torch.equal(share.exemplar.values, batch.exemplar.values[rank::3, :width])
    with pytest.raises(InputError, match="batch size 6 on 4 processes; expected a multiple of 4"):
        by_length(table, batch_size=6, seed=0, world=4)


def test_batches_are_of_about_one_length(table: TripleTable) -> None:
    """Sorted within a pool: with one pool, an epoch's batches do not overlap in length."""
    batches, steps = by_length(table, batch_size=5, seed=0)
    spans = sorted((int(b.target_lengths_B.min()), int(b.target_lengths_B.max())) for b in map(batches, range(steps)))
    assert all(last <= first for (_, last), (first, _) in pairwise(spans))


def test_every_kept_exemplar_is_drawn(table: TripleTable) -> None:
    batches, steps = by_length(table, batch_size=40, seed=0)
    seen: dict[int, set[int]] = {}
    for step in range(60 * steps):
        batch = batches(step)
        for cluster, first in zip(batch.clusters_B.tolist(), batch.exemplar.values[:, 0].tolist(), strict=True):
            seen.setdefault(cluster - 1000, set()).add(first - 4)
    for row, exemplars in seen.items():
        assert exemplars == {number for number in table.exemplars[row].tolist() if number >= 0}


def test_too_few_triples(table: TripleTable) -> None:
    with pytest.raises(InputError, match="40 triples with an exemplar; expected at least one batch of 41"):
        by_length(table, batch_size=41, seed=0)
    none = dataclasses.replace(table, exemplars=np.full((TRIPLES, 1), -1))
    with pytest.raises(InputError, match="0 triples"):
        by_length(none, batch_size=2, seed=0)
