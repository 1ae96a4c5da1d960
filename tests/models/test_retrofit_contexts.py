"""Shared words, negatives and batches against loops over the texts."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import tiny_retrofit as tiny
import torch

from paraform.models.retrofit.contexts import Pool, Unread, context_batches
from paraform.models.retrofit.table import context_table, text_clusters, word_of
from paraform.records import InputError, Pair, Sentence
from paraform.words import tokenize


def words_in(text: str) -> set[str]:
    return {word for token in tokenize(text) if (word := word_of(token, skip_stopwords=False))}


def shared_by_loop(pairs: list[Pair]) -> list[set[str]]:
    """Of each paraphrase with some: the words of both sides that a sentence of another cluster has, too."""
    cluster = text_clusters(pairs)
    found = []
    for pair in pairs:
        if pair.label == 0:
            continue
        both = words_in(pair.source.text) & words_in(pair.target.text)
        own = cluster[pair.source.text]
        kept = {w for w in both if any(w in words_in(text) and other != own for text, other in cluster.items())}
        found.append(kept)
    return [words for words in found if words]


def word_names(table: object) -> dict[int, str]:
    """The number of each word in its context → the word, read off its pieces."""
    made, tokenizer = tiny.table(), tiny.tokenizer()
    out = {}
    for row, sentence in enumerate(made.sentence_R.tolist()):
        ids = made.pieces.values[made.pieces.offsets[sentence] :][: made.pieces.lengths(np.array([sentence]))[0]]
        own = ids[made.start_R[row] : made.start_R[row] + made.count_R[row]]
        out[row] = "".join(tokenizer.id_to_token(int(piece)).removeprefix("##") for piece in own)
    return out


def test_shared_words_by_a_loop() -> None:
    table = tiny.table()
    names = word_names(table)
    found = [
        {names[int(table.source_W[w])] for w in range(start, end)}
        for start, end in zip(table.shared.offsets[:-1], table.shared.offsets[1:], strict=True)
    ]
    assert found == shared_by_loop(tiny.PAIRS)
    assert all(names[int(s)] == names[int(t)] for s, t in zip(table.source_W, table.target_W, strict=True))
    assert {"homeworks", "sleeps"} & {name for words in found for name in words} == {
        "homeworks"
    }  # `sleeps`: nobody else
    lost = sum(len(words_in(p.source.text) & words_in(p.target.text)) for p in tiny.PAIRS if p.label != 0)
    assert table.without_negatives == lost - len(table.source_W) and table.without_words == 0


def test_a_word_has_all_its_pieces() -> None:
    """`homeworks` is home ##work ##s: three pieces, where they stand."""
    table = tiny.table()
    row = next(row for row, name in word_names(table).items() if name == "homeworks")
    assert table.count_R[row] == 3 and table.texts[table.sentence_R[row]].startswith("homeworks")
    assert table.start_R[row] == 1  # behind [CLS]


@pytest.mark.parametrize("kind", ["substitute", "labelled", "batch"])
def test_negatives_hold_the_word_and_say_something_else(kind: str) -> None:
    table, names = tiny.table(), word_names(tiny.table())
    cluster = text_clusters(tiny.PAIRS)
    every = np.arange(len(table.source_W))
    seen: dict[int, set[int]] = {}
    for seed in range(60):
        kept_W, other_W = table.negatives(every, kind, np.random.default_rng(seed))
        for w, (kept, other) in enumerate(zip(kept_W.tolist(), other_W.tolist(), strict=True)):
            assert kept in (table.source_W[w], table.target_W[w])
            assert names[kept] == names[other]
            texts = [table.texts[table.sentence_R[row]] for row in (kept, other)]
            assert cluster[texts[0]] != cluster[texts[1]]
            seen.setdefault(w, set()).add(other)
    if kind == "substitute":  # every sentence of another cluster with the word comes up
        for w, found in seen.items():
            own = cluster[table.texts[table.sentence_R[table.source_W[w]]]]
            name = names[int(table.source_W[w])]
            rows = {r for r in names if names[r] == name and cluster[table.texts[table.sentence_R[r]]] != own}
            assert found == rows
    (labelled,) = (row for row, text in enumerate(table.texts) if text == "the dog is home .")
    dogs = [w for w in every if names[int(table.source_W[w])] == "dog" and w < table.shared.offsets[1]]
    drawn = [
        table.sentence_R[table.negatives(np.array(dogs), kind, np.random.default_rng(seed))[1][0]] == labelled
        for seed in range(400)
    ]
    if kind == "labelled":  # every other time that sentence; else one of the three contexts of `dog` elsewhere
        assert np.mean(drawn) == pytest.approx(0.5 + 0.5 / 3, abs=0.07)


def test_a_draw_outside_a_cluster_is_uniform() -> None:
    words, clusters = np.array([0, 0, 0, 0, 1, 1]), np.array([0, 1, 1, 2, 0, 0])
    pool = Pool.of(np.arange(6), words, clusters, 3)
    draws = pool.draw(np.zeros(30_000, np.int64), np.ones(30_000, np.int64), 3, np.random.default_rng(0))
    assert np.bincount(draws, minlength=6) / 30_000 == pytest.approx([0.5, 0, 0, 0.5, 0, 0], abs=0.02)
    assert pool.draw(np.array([1]), np.array([0]), 3, np.random.default_rng(0)).tolist() == [-1]
    assert pool.others(np.array([0, 1, 1]), np.array([0, 0, 2]), 3).tolist() == [3, 0, 2]


def test_a_batch_holds_each_sentence_once_and_its_words_where_they_are() -> None:
    table = tiny.table()
    every = np.arange(len(table.source_W))
    kept_W, other_W = table.negatives(every, "substitute", np.random.default_rng(0))
    batch = table.batch(every, kept_W, other_W)
    words = batch.words
    assert isinstance(words, Unread)
    rows = [tuple(ids[:n].tolist()) for pieces, lengths in words.chunks for ids, n in zip(pieces, lengths, strict=True)]
    assert len(rows) == len(set(rows))
    flat = torch.cat([pieces.flatten() for pieces, _ in words.chunks])
    for numbers, expected in (
        (batch.source_W, table.source_W),
        (batch.target_W, table.target_W),
        (batch.kept_W, kept_W),
        (batch.other_W, other_W),
    ):
        for number, row in zip(numbers.tolist(), expected.tolist(), strict=True):
            sentence = table.sentence_R[row]
            start = table.pieces.offsets[sentence] + table.start_R[row]
            own = table.pieces.values[start : start + table.count_R[row]].tolist()
            assert flat[words.piece_P[words.word_P == number]].tolist() == own
            assert words.counts_O[number] == len(own)


def test_batches_are_of_all_pairs_once_an_epoch_and_the_same_again() -> None:
    table = tiny.table()
    batches, steps = context_batches(table, batch_size=2, negatives="batch", seed=3)
    assert steps == len(table) // 2
    one, again = batches(1), context_batches(table, batch_size=2, negatives="batch", seed=3)[0](1)
    for name in ("source_W", "target_W", "kept_W", "other_W"):
        assert torch.equal(getattr(one, name), getattr(again, name))
    assert one.states_OD is None and again.states_OD is None
    words = sum(len(batches(step).source_W) for step in range(steps))
    assert words <= len(table.source_W)
    with pytest.raises(InputError, match="pairs with a shared word; expected at least one batch of 99"):
        context_batches(table, batch_size=99, negatives="batch", seed=0)


def test_limits_stop_words_and_odd_sentences() -> None:
    strict = replace(tiny.TINY, skip_stopwords=True, min_tokens=3, max_tokens=5)
    names = word_names(tiny.table())
    assert {"the", "is", "dog"} <= set(names.values())
    assert len(tiny.table(strict).source_W) < len(tiny.table().source_W)
    assert tiny.table(strict).without_words == 3  # with a side of six words or seven
    assert word_of("Don’t", skip_stopwords=False) == "don’t" and word_of("3rd", skip_stopwords=True) is None
    one_word = [Pair(Sentence("home"), Sentence("home ?"), cluster=9), *tiny.PAIRS]  # a context like any other
    assert len(tiny.table(pairs=one_word)) == len(tiny.table()) + 1
    lone = [Pair(Sentence("dog"), Sentence("cat"), cluster=0), Pair(Sentence("? !"), Sentence("."), cluster=1)]
    assert tiny.table(pairs=lone).without_words == 2 and len(tiny.table(pairs=lone)) == 0
    assert len(tiny.table(pairs=[])) == 0


def test_what_a_pair_labelled_0_says() -> None:
    found = text_clusters(tiny.PAIRS)
    assert found["The dog runs home ."] == 0 and found["the dog is home ."] < 0
    more = [*tiny.PAIRS, Pair(Sentence("a cat"), Sentence("The  DOG runs home ."), label=0, cluster=7)]
    assert text_clusters(more)["The  DOG runs home ."] == 0  # the same but for case and spaces


def test_files_have_their_shares_of_an_epoch() -> None:
    """Four pairs of one file share a word, four of the other two: 6 + 2 × 2 words if three in four are the first's."""
    sides = ["home dog", "cat who", "what does", "arm make"]
    one = [Pair(*(Sentence(f"the {word}") for word in both.split()), cluster=n) for n, both in enumerate(sides)]
    other = [
        Pair(*(Sentence(f"the big {word}") for word in both.split()), cluster=4 + n) for n, both in enumerate(sides)
    ]
    groups = [0] * 4 + [1] * 4
    table = context_table([*one, *other], tiny.frozen().tokenizer, skip_stopwords=False, groups=groups)
    assert table.group_N.tolist() == groups
    for shares, words in (((), 4 + 8), ((3.0, 1.0), 6 + 4), ((0.1, 0.3), 2 + 12)):
        batches, steps = context_batches(table, batch_size=8, negatives="batch", seed=0, shares=shares)
        assert steps == 1
        assert {len(batches(epoch).source_W) for epoch in range(3)} == {words}
    with pytest.raises(InputError, match="of 2 files of pairs; expected a number above 0 for each"):
        context_batches(table, batch_size=8, negatives="batch", seed=0, shares=(1.0,))
