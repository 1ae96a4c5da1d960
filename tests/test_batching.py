"""Vocabulary, ragged rows, batches by length, states that are computed once."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from paraform.batching import (
    EOS,
    SPECIAL,
    UNK,
    Ragged,
    TripleBatch,
    TripleTable,
    Vocabulary,
    by_length,
    cached_states,
    prepare,
)
from paraform.encoders import Encoder
from paraform.records import InputError


def test_vocabulary_counts_words_and_their_casing() -> None:
    sentences = [
        ["Is", "Paris", "in", "France", "?", "Paris", "is", "."],
        ["Paris", ",", "I", "think", ",", "is", "in", "the", "EU"],
        ["The", "eu", "?", "The", "EU"],
    ]
    vocabulary = Vocabulary.build(sentences, min_count=2)
    # most frequent first, then by the alphabet: is 3, paris 3, the 3, eu 3; then those seen twice
    assert vocabulary.words == (*SPECIAL, "eu", "is", "paris", "the", ",", "?", "in")
    assert vocabulary.cased == {"eu": "EU", "paris": "Paris"}  # no "The": it opens a sentence, which says nothing


def test_words_beyond_the_vocabulary() -> None:
    vocabulary = Vocabulary((*SPECIAL, "who", "is"), {})
    assert vocabulary.encode(["who", "is", "zorblax"]) == [4, 5, UNK]
    beyond: dict[str, int] = {}
    assert vocabulary.encode(["who", "zorblax", "is", "zorblax"], beyond) == [4, 6, 5, 6]
    assert vocabulary.encode(["quux", "zorblax"], beyond) == [7, 6]
    assert beyond == {"zorblax": 6, "quux": 7}


@given(st.lists(st.text(min_size=1), unique=True), st.dictionaries(st.text(), st.text()))
def test_vocabulary_there_and_back(words: list[str], cased: dict[str, str]) -> None:
    vocabulary = Vocabulary((*SPECIAL, *(word for word in words if word not in SPECIAL)), cased)
    assert Vocabulary.from_json(vocabulary.to_json()) == vocabulary


@pytest.mark.parametrize(
    "text",
    [
        "", "{", "[]", "5", "null", '"words"', "{}", '{"words": []}', '{"cased": {}}', '{"words": 5, "cased": {}}',
        '{"words": "abc", "cased": {}}', '{"words": null, "cased": {}}', '{"words": {"a": 1}, "cased": {}}',
        '{"words": [1], "cased": {}}', '{"words": ["a"], "cased": []}', '{"words": ["a"], "cased": {"a": 1}}',
        '{"words": ["a", "a"], "cased": {}}', '{"words": ["<unk>"], "cased": {}}', "[" * 100_000,
    ],
)  # fmt: skip
def test_hostile_vocabularies(text: str) -> None:
    with pytest.raises(InputError, match="expected"):
        Vocabulary.from_json(text)


def test_a_vocabulary_without_its_special_words() -> None:
    with pytest.raises(InputError, match="expected"):
        Vocabulary(("a", "b"), {})


def test_prepare() -> None:
    assert prepare("Don't stop, NOW!", 4) == ("Do", "n't", "stop", ",")
    assert prepare(" \n", 4) == ()


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
        assert sentence(*batch.target_style, place) == table.target[row]
        assert sentence(*batch.exemplar, place) in table.exemplars[row][table.exemplars[row] >= 0]
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


def test_states_are_computed_once(minilm: Encoder, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    texts = ["what is it ?", "who", "how do i begin ?"]
    found = cached_states(minilm, texts, layer=3, folder=tmp_path)
    (expected,) = minilm.states(texts, layers=[3])
    assert np.array_equal(found.offsets, expected.offsets) and found.values.dtype == np.float16
    np.testing.assert_allclose(found.values, expected.states_ND, rtol=1e-3, atol=1e-3)
    assert isinstance(found.values, np.memmap)
    cached_states(minilm, texts, layer=2, folder=tmp_path)
    cached_states(minilm, texts[:2], layer=3, folder=tmp_path)
    cached_states(minilm, ["what is it ?who", "how do i begin ?"], layer=3, folder=tmp_path)
    files = sorted(path.name for path in (tmp_path / "states").iterdir())
    assert len(files) == 8  # one pair of files for each layer and each list of texts

    def never(*_: object, **__: object) -> None:
        raise AssertionError("computed again")

    monkeypatch.setattr(Encoder, "states", never)
    again = cached_states(minilm, texts, layer=3, folder=tmp_path)
    assert np.array_equal(again.values, found.values) and np.array_equal(again.offsets, found.offsets)
    with pytest.raises(AssertionError, match="computed again"):
        cached_states(dataclasses.replace(minilm, digest="another"), texts, layer=3, folder=tmp_path)
    assert not list((tmp_path / "states").glob("*.unfinished"))


def test_special_numbers() -> None:
    assert SPECIAL[EOS] == "</s>" and json.loads(Vocabulary(SPECIAL, {}).to_json())["words"] == []
