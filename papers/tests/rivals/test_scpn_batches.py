"""SCPN's table and its batches, against the sentences that they are of."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import tiny_scpn as tiny

from paraform.models.by_tree import units_of
from paraform.records import InputError, Pair, Sentence
from paraform.syntax.trees import Tree, template
from paraform_papers.rivals.scpn.batches import pair_batches, parts_of
from paraform_papers.rivals.scpn.table import commonest_templates, different_parses


@pytest.mark.parametrize("brackets", [True, False])
def test_a_row_is_its_sentence_its_parse_and_its_template(brackets: bool) -> None:
    model = tiny.paraphraser(replace(tiny.TINY, brackets=brackets))
    (batch,) = parts_of(tiny.table(model), 99)
    for row, pair in enumerate(tiny.PAIRS):
        tree = tiny.parsed()[pair.target.text]
        for side, numbers in (
            (batch.target, model.vocabulary.encode(pair.target.text.split())),
            (batch.target_parse, model.symbols.encode(tree)[0]),
            (batch.template, model.symbols.encode(template(tree, 3))[0]),
        ):
            assert side.words_BT[row, : int(side.lengths_B[row])].tolist() == numbers
    assert batch.source_parse.words_BT.shape[0] == len(tiny.PAIRS)


def test_an_epoch_has_every_pair_once_and_half_of_the_batches_the_other_way() -> None:
    model = tiny.paraphraser()
    table = tiny.table(model)
    batches, steps = pair_batches(table, batch_size=2, seed=3)
    assert steps == 5
    ways = []
    for epoch in range(20):
        seen = []
        for step in range(epoch * steps, (epoch + 1) * steps):
            batch = batches(step)
            rows = [tuple(row[row > 0].tolist()) for row in batch.source.words_BT]
            numbers = {tuple(model.vocabulary.encode(text.split())): n for n, text in enumerate(tiny.TEXTS)}
            sources = [numbers[row] for row in rows]
            ways.append(sources[0] % 2)
            assert {source % 2 for source in sources} == {ways[-1]}  # a batch goes one way
            seen += [source // 2 for source in sources]
        assert sorted(seen) == list(range(10))
    assert 30 < sum(ways) < 70
    again, _ = pair_batches(table, batch_size=2, seed=3)
    assert all(map(np.array_equal, batches(7).target.words_BT, again(7).target.words_BT))
    with pytest.raises(InputError, match="10 pairs of different parses; expected at least one batch of 11"):
        pair_batches(table, batch_size=11, seed=0)


def test_two_processes_share_a_batch() -> None:
    table = tiny.table(tiny.paraphraser())
    whole, _ = pair_batches(table, batch_size=4, seed=0)
    parts = [pair_batches(table, batch_size=4, seed=0, rank=rank, world=2)[0](1) for rank in (0, 1)]
    for rank, part in enumerate(parts):
        assert part.target_parse.lengths_B.tolist() == whole(1).target_parse.lengths_B[rank::2].tolist()


def test_pairs_of_one_parse_are_left_out() -> None:
    trees = {**tiny.parsed(), "the cow runs home": Tree.parse(tiny.TREES["the dog runs home"].replace("dog", "cow"))}
    same = Pair(Sentence("the dog runs home"), Sentence("the cow runs home"))
    assert different_parses([*tiny.PAIRS, same], trees) == tiny.PAIRS


def test_templates_are_counted() -> None:
    found = commonest_templates(tiny.TEXTS, tiny.parsed())
    assert str(found[0]) == "(ROOT (S (NP) (VP)))" and len(found) == 7  # of SQ two, over VBZ and over VBD


def test_units_are_words_or_the_encoders_pieces() -> None:
    assert units_of([("Unreplayable", "Tea")], tiny.TINY) == [["unreplayable", "tea"]]
    (pieces,) = units_of([("Unreplayable", "Tea")], replace(tiny.TINY, units="pieces"))
    assert pieces[-1] == "tea" and len(pieces) > 2 and "".join(pieces[:-1]).replace("##", "") == "unreplayable"
