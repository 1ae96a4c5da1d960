from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from paraform.records import InputError
from paraform.syntax.spans import Span, constituents, joined, tree_of
from paraform.syntax.trees import Tree

TAGGED = st.builds(Tree, st.sampled_from(["DT", "NN", "VB"]), st.just(()), st.sampled_from(["a", "b", "c"]))
PHRASES = st.recursive(
    TAGGED,
    lambda inside: st.builds(Tree, st.sampled_from(["S", "NP", "VP"]), st.lists(inside, min_size=1).map(tuple)),
    max_leaves=15,
)


def test_worked_by_hand() -> None:
    tree = Tree.parse("(ROOT (S (VP (VB Go) (NP (NP (NN home)))) (. .)))")
    found = [Span(0, 3, "S"), Span(0, 2, "VP"), Span(1, 2, "NP"), Span(1, 2, "NP")]
    assert constituents(tree) == found
    assert joined(found) == [Span(0, 3, "S"), Span(0, 2, "VP"), Span(1, 2, "NP+NP")]
    assert tree_of(tree.words(), tree.tags(), joined(found)) == tree


@given(st.lists(PHRASES, min_size=1).map(tuple))
def test_round_trip(phrases: tuple[Tree, ...]) -> None:
    """Spans, joined or not and in any order of unequal ones, make the tree again."""
    tree = Tree("ROOT", phrases)
    spans = constituents(tree)
    assert tree_of(tree.words(), tree.tags(), spans) == tree
    assert tree_of(tree.words(), tree.tags(), sorted(joined(spans), reverse=True)) == tree


def test_words_alone_stand_below_the_root() -> None:
    assert str(tree_of(["a", "b"], ["X", "Y"], [])) == "(ROOT (X a) (Y b))"
    assert str(tree_of(["a"], ["X"], [Span(0, 1, "NP")])) == "(ROOT (NP (X a)))"


def test_mistakes() -> None:
    with pytest.raises(ValueError, match="crosses a span that ends at 2"):
        tree_of("abc", "XYZ", [Span(0, 2, "NP"), Span(1, 3, "VP")])
    with pytest.raises(ValueError, match="expected a span inside the sentence"):
        tree_of("abc", "XYZ", [Span(0, 4, "NP")])
    with pytest.raises(InputError, match="0 words and 0 tags"):
        tree_of([], [], [])
    with pytest.raises(InputError, match="2 words and 1 tags"):
        tree_of("ab", "X", [])
