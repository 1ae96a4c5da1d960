"""Two clauses of a statement, joined in another way: on trees by hand."""

from __future__ import annotations

import pytest

from paraform.rewording.clause_pairs import joined_otherwise
from paraform.syntax.trees import Tree

FOOD = "(NP (DT the) (NN food)) (VP (VBD was) (ADJP (JJ good)))"
THEY = "(NP (PRP they)) (VP (VBD left))"
COULD = "(NP (PRP they)) (VP (MD could) (VP (VB leave)))"
SORRY = "(NP (PRP they)) (VP (VBD were) (ADJP (JJ sorry)))"
LIST = "(NP (NN tea) (, ,) (NN milk)) (VP (VBD came))"


@pytest.mark.parametrize(
    ("parts", "expected"),
    [
        (f"(S {FOOD}) (, ,) (CC but) (S {THEY}) (. .)", "although the food was good , they left ."),
        (f"(S {FOOD}) (CC but) (S {THEY})", "although the food was good , they left"),
        (f"(S {FOOD}) (, ,) (RB so) (S {THEY})", "because the food was good , they left"),
        (f"(SBAR (IN Because) (S {FOOD})) (, ,) {THEY} (. .)", "the food was good , so they left ."),
        (f"(SBAR (RB Even) (IN though) (S {FOOD})) (, ,) (S {THEY})", "the food was good , but they left"),
        (f"(S {FOOD}) (, ,) (RB so) (S {COULD})", ""),  # what for
        (f"(S {SORRY}) (, ,) (CC but) (S {THEY})", ""),
        (f"(S {FOOD}) (, ,) (CC and) (S {THEY})", ""),
        (f"(S {LIST}) (, ,) (CC but) (S {THEY})", ""),
        (f"(S {FOOD}) (, ,) (CC but) (S {THEY}) (. ?)", ""),
        (f"(S {FOOD}) (, ,) (CC but) (VP (VB go))", ""),
        (f"(SBAR (IN Although) (S {THEY})) (, ,) {FOOD}", ""),  # who "they" are stands behind
        (f"(SBAR (IN If) (S {FOOD})) (, ,) {THEY}", ""),
        (f"(SBAR (IN Because) (PP (IN of) (NP (NN rain)))) (, ,) {THEY}", ""),
        (f"{FOOD}", ""),
    ],
)
def test_the_conjunction_goes_in_front_or_between(parts: str, expected: str) -> None:
    found = [" ".join(one.words) for one in joined_otherwise(Tree.parse(f"(S {parts})"))]
    assert found == [expected] * bool(expected)


def test_the_tree_answers_for_it() -> None:
    (one,) = joined_otherwise(Tree.parse(f"(S (S {FOOD}) (CC but) (S {THEY}))"))
    assert (one.parsed, one.wrapped, one.suits, one.literals) == (True, False, None, frozenset())
