"""What is added to few examples, and what that is measured by, on sentences made for it."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Sequence

import numpy as np
import pytest
from numpy.typing import NDArray

from paraform_papers.shipped import eda as module
from paraform_papers.shipped.eda import deleted, eda, inserted_by, replaced_by, swapped
from paraform_papers.shipped.few_shot import accuracy, added_to, cached, drawn_from, split

WORDS = ["where", "can", "i", "find", "the", "nearest", "bank", "that", "takes", "my", "old", "card"]


def synonyms(word: str) -> Sequence[str]:
    return {"bank": ["bench"], "old": ["aged"]}.get(word, [])


def test_each_edit_does_what_the_paper_says() -> None:
    drawn = random.Random(0)
    for _ in range(50):
        moved = swapped(list(WORDS), drawn)
        assert sorted(moved) == sorted(WORDS) and sum(a != b for a, b in zip(moved, WORDS, strict=True)) == 2
        new = replaced_by(synonyms)(list(WORDS), drawn)
        assert len(new) == len(WORDS) and sum(a != b for a, b in zip(new, WORDS, strict=True)) == 1
        assert {*new} - {*WORDS} <= {"bench", "aged"}
        longer = inserted_by(synonyms)(list(WORDS), drawn)
        assert len(longer) == len(WORDS) + 1 and Counter(longer) - Counter(WORDS) <= Counter(["bench", "aged"])
    gone = [len(WORDS) - len(deleted(list(WORDS), drawn)) for _ in range(2_000)]
    assert np.mean(gone) == pytest.approx(module.ALPHA * len(WORDS), abs=0.1)
    assert deleted(["one"], drawn) == ["one"]


def test_eda_gives_different_texts_and_the_same_again() -> None:
    text = " ".join(WORDS)
    found = eda(text, num=4, seed=0, synonyms=synonyms)
    assert len(set(found)) == 4 and text not in found
    assert eda(text, num=4, seed=0, synonyms=synonyms) == found != eda(text, num=4, seed=1, synonyms=synonyms)
    assert eda("one", num=4, seed=0) == []


def test_no_test_text_is_trained_on_and_additions_stand_behind() -> None:
    intents = {name: [f"{name} {number}" for number in range(30)] for name in ("a", "b")}
    pool, test = split(intents)
    assert all(sorted(pool[name] + test[name]) == sorted(intents[name]) and len(test[name]) == 10 for name in intents)
    train = drawn_from(pool, 5, seed=1)
    assert train == drawn_from(pool, 5, seed=1) != drawn_from(pool, 5, seed=2)
    more = added_to(train, lambda texts: [[f"{text}!"] for text in texts])
    assert more["a"] == [*train["a"], *(f"{text}!" for text in train["a"])]


def test_accuracy_is_that_of_a_regression_on_each_text_encoded_once() -> None:
    asked: list[str] = []

    def embed(texts: Sequence[str]) -> NDArray[np.float32]:
        asked.extend(texts)
        return np.array([[text.startswith("a"), text.startswith("b")] for text in texts], np.float32)

    find = cached(embed)
    train, test = {"a": ["a1", "a2"], "b": ["b1", "b2"]}, {"a": ["a3", "b3"], "b": ["b4", "b5"]}
    assert accuracy(train, test, find, 10.0) == accuracy(train, test, find, 10.0) == 0.75
    assert sorted(asked) == sorted({*asked})
