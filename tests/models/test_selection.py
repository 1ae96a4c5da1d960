"""Which exemplars each source gets."""

from __future__ import annotations

import pytest

from paraform.models.selection import select_exemplars
from paraform.records import InputError

BANK = ["how so ?", "why not ?", "is it so ?"]


def test_one_for_all_one_each_or_every_one() -> None:
    assert select_exemplars(["a", "b"], ["how so ?"], BANK) == [["how so ?"], ["how so ?"]]
    assert select_exemplars(["a", "b"], ["how so ?", "why not ?"], BANK) == [["how so ?"], ["why not ?"]]
    assert select_exemplars(["a", "b"], [["x y", "z w"], ["u v"]], BANK) == [["x y", "z w"], ["u v"]]
    assert select_exemplars(["a", "b"], ["x y", "z w"], BANK, each=True) == [["x y", "z w"], ["x y", "z w"]]


def test_a_draw_does_not_depend_on_the_neighbours() -> None:
    drawn = select_exemplars(["a", "b", "c"], None, BANK, num=2, seed=3)
    assert select_exemplars(["c", "a"], None, BANK, num=2, seed=3) == [drawn[2], drawn[0]]
    assert all(len(set(row)) == 2 and set(row) <= set(BANK) for row in drawn)
    assert len({tuple(select_exemplars(["a"], None, BANK, seed=seed)[0]) for seed in range(20)}) == len(BANK)


@pytest.mark.parametrize("text", ["why", "Why?", "why ?", "¿Qué?", "\u4f60\u597d", "\U0001f642"])
def test_one_word_is_no_form(text: str) -> None:
    with pytest.raises(InputError, match="is one word; expected a sentence whose form to take"):
        select_exemplars(["a b"], ["how so ?", text], BANK, each=True)


def test_numbers_that_do_not_match() -> None:
    with pytest.raises(InputError, match="2 exemplars for 3 sources"):
        select_exemplars(["a", "b", "c"], ["how so ?", "why not ?"], BANK)
    with pytest.raises(InputError, match="num 4; expected 1 to 3"):
        select_exemplars(["a"], None, BANK, num=4)
    with pytest.raises(InputError, match="a string where a list of texts is expected"):
        select_exemplars("a", ["how so ?"], BANK)
    with pytest.raises(InputError, match="like is of type str; expected exemplars"):
        select_exemplars(["a"], "how so ?", BANK)
