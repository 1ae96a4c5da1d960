"""SGCP's table and its batches, against the sentences that they are of."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import numpy as np
import pytest
import tiny_sgcp as tiny
import torch

from paraform.records import InputError, Pair, Sentence
from paraform.syntax.trees import Tree
from paraform_papers.rivals.sgcp.batches import PairBatch, parts_of
from paraform_papers.rivals.sgcp.table import pair_table

NUMBER = {text: number for number, text in enumerate(tiny.TEXTS)}


def texts(model: object, side: torch.Tensor) -> list[str]:
    words = model.vocabulary.words  # type: ignore[attr-defined]
    return [" ".join(words[number] for number in row if number) for row in side.tolist()]


def test_each_unit_has_the_leaf_of_its_word() -> None:
    """Pieces of a word share its leaf; what is behind the last word that is read has none; the end has its own."""
    tree = Tree.parse("(TOP (S (NP (NNP Unreplayable) (NN tea)) (VP (VBZ is) (ADVP (RB here))) (. .)))")
    text = "Unreplayable tea is here ."
    pairs, trees = [Pair(Sentence("stop"), Sentence(text))], {**tiny.parsed(), text: tree}
    model = tiny.paraphraser(replace(tiny.TINY, units="pieces", max_tokens=3))
    table = pair_table(pairs, trees, model.config, model.vocabulary, model.symbols)
    pieces = table.units.lengths(table.target)[0]
    assert pieces > 3
    for height, leaves in (
        (9, [*[0] * (pieces - 2), 1, 2, 3]),
        (3, [*[0] * (pieces - 1), 1, 2]),
        (2, [0] * pieces + [1]),
    ):
        batch = table.batch(table.source, table.target, np.array([height]))
        assert batch.leaf_BT.tolist() == [leaves] and int(batch.forms.lengths_B) == leaves[-1] + 1


def test_an_epoch_has_every_pair_both_ways() -> None:
    model = tiny.paraphraser()
    batches, steps = tiny.batches_of(model, batch_size=4, seed=3)
    assert steps == 5
    seen = Counter[tuple[str, str]]()
    for step in range(steps, 2 * steps):
        batch = batches(step)
        seen.update(zip(texts(model, batch.source.words_BT), texts(model, batch.target.words_BT), strict=True))
    ways = [(pair.source.text, pair.target.text) for pair in tiny.PAIRS]
    assert seen == Counter([*ways, *((target, source) for source, target in ways)])
    again, _ = tiny.batches_of(model, batch_size=4, seed=3)
    assert again(7).forced == batches(7).forced
    assert all(torch.equal(a, b) for a, b in zip(again(7).target, batches(7).target, strict=True))
    with pytest.raises(InputError, match="20 pairs, both directions counted; expected at least one batch of 21"):
        tiny.batches_of(model, batch_size=21)


def levels_of(batch: PairBatch) -> int:
    return len(batch.forms.levels)


def test_heights_and_forcing_are_drawn(monkeypatch: pytest.MonkeyPatch) -> None:
    """For each pair; the decoder reads the target in that share of the batches."""
    model = tiny.paraphraser()
    batches, _ = tiny.batches_of(model)
    forced = [batches(step).forced for step in range(400)]
    assert 0.85 < sum(forced) / 400 < 0.95
    monkeypatch.setattr("paraform_papers.rivals.sgcp.batches.HEIGHTS", (2, 3))
    by_pair, _ = tiny.batches_of(model, batch_size=10)
    queues = [by_pair(0).forms.lengths_B.tolist(), by_pair(1).forms.lengths_B.tolist()]
    assert all(2 in lengths and max(lengths) > 2 for lengths in queues)  # S and the end, or its phrases
    assert max(levels_of(by_pair(step)) for step in range(20)) == 3
    whole = list(parts_of(tiny.table(model), 4))
    assert [len(part.leaf_BT) for part in whole] == [4, 4, 2] and all(part.forced for part in whole)
    assert whole[0].forms.lengths_B.tolist() == [len(pair.target.text.split()) + 1 for pair in tiny.PAIRS[:4]]


def test_two_processes_share_a_batch() -> None:
    model = tiny.paraphraser()
    whole, _ = tiny.batches_of(model)
    parts = [tiny.batches_of(model, rank=rank, world=2)[0](1) for rank in (0, 1)]
    for rank, part in enumerate(parts):
        width = part.leaf_BT.shape[1]
        assert part.leaf_BT.tolist() == whole(1).leaf_BT[rank::2, :width].tolist()
        assert part.forced == whole(1).forced
