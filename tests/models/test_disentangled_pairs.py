"""Batches of pairs: a pure function of seed and step, shares of files kept."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import numpy as np
import pytest
import tiny_disentangled as tiny
import torch

from paraform.batching import Ragged
from paraform.models.disentangled.pairs import PairTable, pair_batches
from paraform.models.disentangled.symbols import TreeSymbols
from paraform.records import InputError


def numbered(pairs: int, groups: list[int]) -> PairTable:
    """Pairs of sentences of one piece each, which is the pair's number."""
    rows = Ragged.of([[number] for number in range(pairs)])
    own = np.arange(pairs)
    none = np.full((pairs, 0), -1)
    return PairTable(rows, rows, np.zeros((pairs, 1), np.float32), own, own, own, none, np.array(groups))


def test_a_batch_is_what_its_rows_say() -> None:
    table = tiny.table()
    batch = pair_batches(table, batch_size=4, seed=3)[0](0)
    tokenizer = tiny.tokenizer()
    symbols = TreeSymbols.of(tiny.parsed().values(), brackets=True)
    found = set()
    for row in range(4):
        pieces = batch.source.pieces_BT[row, : batch.source.lengths_B[row]].tolist()
        text = tokenizer.decode(pieces)
        found.add(text)
        tree = batch.source_tree.symbols_BS[row, : batch.source_tree.lengths_B[row]].tolist()
        assert tree == symbols.encode(tiny.parsed()[text])[0]
        assert batch.source_tree.bags_BC[row].numpy() == pytest.approx(symbols.constituent_shares(tiny.parsed()[text]))
        assert batch.source.clusters_B[row] == batch.target.clusters_B[row]
    assert found == {pair.source.text for pair in tiny.PAIRS}
    assert batch.negatives is None and batch.start_RD is None


def test_batches_are_a_pure_function_of_seed_and_step_and_every_process_has_its_part() -> None:
    table = numbered(40, [0] * 40)
    batches, steps = pair_batches(table, batch_size=8, seed=5)
    again, _ = pair_batches(table, batch_size=8, seed=5)
    assert steps == 5
    for step in (7, 0, 3):
        whole = batches(step).source.pieces_BT[:, 0].tolist()
        assert again(step).source.pieces_BT[:, 0].tolist() == whole
        parts = [pair_batches(table, batch_size=8, seed=5, rank=rank, world=2)[0](step) for rank in range(2)]
        assert sorted(part.source.pieces_BT[:, 0].tolist() for part in parts) == sorted([whole[::2], whole[1::2]])
    epoch = [number for step in range(5) for number in batches(step).source.pieces_BT[:, 0].tolist()]
    assert sorted(epoch) == list(range(40))
    assert epoch != [number for step in range(5, 10) for number in batches(step).source.pieces_BT[:, 0].tolist()]


def test_an_epoch_has_each_file_s_share() -> None:
    """Of 30 and 10 pairs, shares 1 and 1: 20 different ones of the first, each of the second twice."""
    table = numbered(40, [0] * 30 + [1] * 10)
    batches, steps = pair_batches(table, batch_size=8, seed=0, shares=(1, 1))
    seen = Counter(number for step in range(steps) for number in batches(step).source.pieces_BT[:, 0].tolist())
    assert sum(count for number, count in seen.items() if number < 30) == 20
    assert {count for number, count in seen.items() if number < 30} == {1}
    assert [seen[number] for number in range(30, 40)] == [2] * 10


@pytest.mark.parametrize("shares", [(1.0,), (1.0, -1.0), (0.0, 1.0), (float("nan"), 1.0), (float("inf"), 1.0)])
def test_shares_that_are_none(shares: tuple[float, ...]) -> None:
    with pytest.raises(InputError, match="of 2 files of pairs; expected a number above 0 for each"):
        pair_batches(numbered(8, [0] * 4 + [1] * 4), batch_size=4, seed=0, shares=shares)


def test_negatives_and_starts_come_with_their_pairs() -> None:
    whole = tiny.table()
    table = replace(
        whole,
        negatives=np.array([[1], [-1], [1], [7]]),
        start=np.arange(16, dtype=np.float32).reshape(8, 2),
    )
    batch = pair_batches(table, batch_size=4, seed=1)[0](0)
    assert batch.negatives is not None and batch.start_RD is not None
    assert torch.equal(batch.negatives.pieces_BT, table.sentences(np.array([1, 7])).pieces_BT)
    rows = {tuple(row) for row in batch.start_RD[:4].tolist()}
    assert rows == {tuple(table.start[row].tolist()) for row in table.source}  # type: ignore[index]  # this table has starts
    assert batch.to(torch.device("cpu")).negatives is not None


def test_an_ablation_has_the_batches_of_the_row_it_is_compared_with() -> None:
    """Without syntax no tree is read, but pairs are grouped by trees all the same; not so where nothing is written."""
    whole = pair_batches(tiny.table(), batch_size=2, seed=1)[0]
    ablated = pair_batches(tiny.table(replace(tiny.TINY, syntax=False, adversary_weight=0.0)), batch_size=2, seed=1)[0]
    assert all(torch.equal(whole(step).source.clusters_B, ablated(step).source.clusters_B) for step in range(4))
    assert tiny.table(replace(tiny.TINY, generation_weight=0.0, contrast_weight=1.0)).reads_trees is False
