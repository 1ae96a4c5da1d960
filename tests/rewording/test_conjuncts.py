"""What "and" joins, the other way round: on trees by hand."""

from __future__ import annotations

import pytest

from paraform.rewording.conjuncts import swapped
from paraform.syntax.trees import Tree


@pytest.mark.parametrize(
    ("tree", "expected"),
    [
        ("(NP (DT the) (NN food) (CC and) (NN cake))", ["the cake and food"]),
        ("(NP (DT a) (ADJP (JJ hot) (CC and) (JJ old)) (NN dog))", []),
        ("(NP (NNS dogs) (CC and) (JJ other) (NNS animals))", []),
        ("(NP (DT this) (NN book) (CC and) (NNS papers))", []),
        ("(NP (DT the) (JJ hot) (CC and) (JJ old) (NN dog))", ["the old and hot dog"]),
        ("(NP (NP (JJ nice) (NNS rooms)) (CC or) (NP (NN staff)))", ["staff or nice rooms"]),
        ("(NP (DT a) (JJ hot) (CC and) (JJ old) (NN dog))", []),
        ("(S (NP (NN tea) (CC and) (NN milk)) (VP (VBP cost) (ADJP (JJ little) (CC and) (JJ nice))))", 2),
        ("(NP (JJ fresh) (NN basil) (CC and) (NNS nuts))", []),  # what is fresh?
        ("(NP (NN tea) (, ,) (NN milk) (CC and) (NN cake))", []),
        ("(NP (NN tea) (CC and) (NN tea))", []),
        ("(NP (NNP Bloomer) (CC and) (NNP Ratych))", []),
        ("(NP (NP (NNP Tom)) (CC and) (NP (PRP$ his) (NN dog)))", []),
        ("(NP (NP (NN tea)) (CC and) (NP (NP (NN milk)) (PP (IN of) (NP (NNS cows)))))", []),
        ("(ADJP (RB very) (JJ slow) (CC and) (JJ rude))", []),
        ("(ADJP (JJ open) (CC and) (ADJP (JJR more) (JJ inviting)))", []),
        ("(NP (NNS pros) (CC and) (NNS cons))", []),
        ("(S (VP (VB come) (CC and) (VB go)))", []),
        ("(NP (NN tea) (CC but) (NN milk))", []),
    ],
)
def test_both_sides_change_places_where_nothing_belongs_to_one(tree: str, expected: list[str] | int) -> None:
    found = [" ".join(one.words) for one in swapped(Tree.parse(tree))]
    assert (len(found) if isinstance(expected, int) else found) == expected


def test_it_is_for_a_language_model_to_judge() -> None:
    (one,) = swapped(Tree.parse("(NP (NN tea) (CC and) (NN cake))"))
    assert (one.form, one.suits, one.parsed, one.literals) == ("… and …", "most", True, frozenset())
