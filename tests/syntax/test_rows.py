"""Sentences as numbers, against a word at a time."""

from __future__ import annotations

from hashlib import blake2b

import pytest
from hypothesis import given
from hypothesis import strategies as st

from paraform.records import InputError, Sentence
from paraform.syntax.rows import Numbers, encode

WORDS = st.lists(st.text("aAbßΣσς'İ\u0307", min_size=1, max_size=4), min_size=1, max_size=5)


@given(st.lists(WORDS, min_size=1, max_size=5), WORDS)
def test_words_are_lower_cased_each_by_itself(learnt: list[list[str]], asked: list[str]) -> None:
    """Of a sigma and a dotted i the small letter depends on its neighbours, which are not another word's."""
    numbers = Numbers()
    encoded = encode([sentence(words) for words in learnt], None, numbers, learn=True)
    every = [word.lower() for words in learnt for word in words]
    assert list(numbers.words) == list(dict.fromkeys(every))
    lowered = ["\x1f".join(word.lower() for word in words) for words in learnt]
    assert encoded.rows.wordings.tobytes() == b"".join(
        blake2b(words.encode(), digest_size=8).digest() for words in lowered
    )
    before = dict(numbers.words)
    rows = encode([sentence(asked)], None, numbers, learn=False).rows
    assert set(rows.words.tolist()) == {before[word.lower()] for word in asked if word.lower() in before}
    assert numbers.words == before


def sentence(words: list[str]) -> Sentence:
    return Sentence(" ".join(words), tuple(words), tuple("NN" for _ in words))


def test_too_many_tags_are_given_no_number() -> None:
    numbers = Numbers()
    words = tuple("a" for _ in range(70_000))
    with pytest.raises(InputError, match="70,000 different tags"):
        encode([Sentence("a", words, tuple(map(str, range(70_000))))], None, numbers, learn=True)
    assert not numbers.tags and not numbers.words
