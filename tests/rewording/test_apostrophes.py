"""Contractions without their apostrophe."""

from __future__ import annotations

from paraform.rewording.apostrophes import with_apostrophes
from paraform.spans import cut
from paraform.words import tokenize


def test_they_are_the_words_that_they_would_be_with_one() -> None:
    for bare, written in [("I dont", "I don't"), ("Im here", "I'm here"), ("CANT", "CAN'T"), ("Whats it", "What's it")]:
        assert [*with_apostrophes(cut(bare)).words] == tokenize(written)


def test_each_part_has_its_letters_place() -> None:
    found = with_apostrophes(cut("Im sure you DONT"))
    assert [found.text[slice(*span)] for span in found.spans] == ["I", "m", "sure", "you", "DO", "NT"]


def test_other_words_stay() -> None:
    for text in ("its own want", "we were ill", "an event", "don't", "cannot"):
        assert with_apostrophes(cut(text)) == cut(text)
