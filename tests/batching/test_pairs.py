"""Pairs as rows of a table of their different sentences."""

from __future__ import annotations

from paraform.batching.pairs import parts_of_rows, sides_of
from paraform.records import Pair, Sentence


def test_each_different_sentence_stands_once() -> None:
    sides = [("a", "b"), ("c", "a"), ("b", "b")]
    pairs = [Pair(Sentence(source), Sentence(target)) for source, target in sides]
    found = sides_of(pairs)
    assert found.texts == ["a", "b", "c"]
    assert [(found.texts[one], found.texts[other]) for one, other in zip(found.source, found.target, strict=True)] == (
        sides
    )
    assert sides_of([]).texts == [] and len(sides_of([]).source) == 0


def test_parts_have_all_rows_in_their_order() -> None:
    assert [part.tolist() for part in parts_of_rows(5, 2)] == [[0, 1], [2, 3], [4]]
    assert list(parts_of_rows(0, 2)) == []
