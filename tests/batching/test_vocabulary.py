"""Vocabulary: counts, casing, there and back, hostile files."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from paraform.batching import EOS, SPECIAL, UNK, Vocabulary, prepare
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


def test_the_most_frequent_words_are_kept() -> None:
    sentences = [["b", "a", "a"], ["A", "c", "b"], ["d"]]
    for size, min_count, kept in ((0, 1, "abcd"), (2, 1, "ab"), (3, 1, "abc"), (0, 2, "ab"), (1, 2, "a")):
        assert Vocabulary.build(sentences, min_count=min_count, size=size).words[len(SPECIAL) :] == tuple(kept)


def test_prepare() -> None:
    assert prepare("Don't stop, NOW!", 4) == ("Do", "n't", "stop", ",")
    assert prepare(" \n", 4) == ()


def test_special_numbers() -> None:
    assert SPECIAL[EOS] == "</s>" and json.loads(Vocabulary(SPECIAL, {}).to_json())["words"] == []
