"""The bank of transformations against a brute force, and to text and back."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from paraform.records import InputError
from paraform.rewording.transformations import LEAST_EDITS, Transformation, Transformations

TAGS = st.lists(st.sampled_from(["NN", "VB", ".", "DT", "PRP$"]), min_size=1, max_size=6)
ITEMS = st.lists(
    st.builds(
        Transformation, TAGS.map(tuple), st.from_regex("[a-c?'é😀][a-c ?]{0,5}", fullmatch=True), TAGS.map(tuple)
    ),
    max_size=12,
)


def distance(one: list[str], other: list[str]) -> int:
    """Levenshtein's, by the table of all prefixes."""
    row = list(range(len(other) + 1))
    for number, tag in enumerate(one, start=1):
        above, row = row, [number]
        for place, its in enumerate(other):
            row.append(min(above[place] + (tag != its), above[place + 1] + 1, row[place] + 1))
    return row[-1]


def by_brute_force(items: list[Transformation], tags: list[str], num: int) -> list[str]:
    """Nearest sources first, of equal ones that which came first; equal sources together."""
    first = {item.source_tags: place for place, item in reversed(list(enumerate(items)))}
    ordered = sorted(items, key=lambda item: (distance(tags, list(item.source_tags)), first[item.source_tags]))
    taken = [tags]
    out: list[str] = []
    for item in ordered:
        if len(out) < num and all(distance(other, list(item.target_tags)) >= LEAST_EDITS for other in taken):
            taken.append(list(item.target_tags))
            out.append(item.target)
    return out


@given(ITEMS, st.lists(st.lists(st.sampled_from(["NN", "VB", ".", "DT"]), max_size=6), max_size=4), st.integers(0, 4))
def test_forms_equal_a_brute_force(items: list[Transformation], asked: list[list[str]], num: int) -> None:
    bank = Transformations(items)
    assert bank.forms(asked, num) == [by_brute_force(items, tags, num) for tags in asked]
    assert bank.forms(asked[::-1], num) == bank.forms(asked, num)[::-1]


def test_tags_that_the_bank_lacks_are_as_far_as_any_other() -> None:
    items = [Transformation(("NN", "VB"), "a b", ("DT", "NN", "VB", ".")), Transformation(("X", "Y"), "c", ("Z",) * 5)]
    assert Transformations(items).forms([["UH", "VB"], ["UH", "UH"]], 1) == [["a b"], ["a b"]]


@given(ITEMS)
def test_to_text_and_back(items: list[Transformation]) -> None:
    bank = Transformations(items)
    again = Transformations.read(bank.to_text())
    assert list(again) == items and len(again) == len(items)
    assert again[1:] == tuple(items[1:])


def test_none() -> None:
    assert list(Transformations.read("")) == []
    assert Transformations().forms([["NN"], []], 3) == [[], []]
    assert Transformations([Transformation(("NN",), "a", ("VB",))]).forms([], 3) == []


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("NN\tVB\n", r"line 1 of the bank: 'NN\\tVB'; expected tags, tags and a sentence"),
        ("NN\tVB\ta b\n\n", "line 2 of the bank: ''"),
        ("NN\tVB\ta\tb\n", "line 1"),
        ("\tVB\ta b\n", "line 1"),
        (" \tVB\ta b\n", "line 1"),
        ("NN\t \ta b\n", "line 1"),
        ("NN\tVB\t \n", "line 1"),
        ("NN\tVB\ta b\nNN\tVB\tc d", r"the bank ends in .*NN\\tVB\\tc d', without a line end"),
    ],
)
def test_bad_lines(text: str, message: str) -> None:
    with pytest.raises(InputError, match=message):
        Transformations.read(text)
