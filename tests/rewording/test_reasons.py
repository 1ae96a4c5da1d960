"""A reason and what follows, joined in another way: on trees by hand, and by the embedded parser."""

from __future__ import annotations

import pytest

from paraform.rewording.checks import check
from paraform.rewording.drafts import framed_drafts
from paraform.rewording.reasons import joined_otherwise
from paraform.rewording.tagged import Tagged
from paraform.syntax import load_parser
from paraform.syntax.trees import Tree
from paraform.words import tokenize

FOOD = "(NP (DT the) (NN food)) (VP (VBD was) (ADJP (JJ good)))"
THEY = "(NP (PRP they)) (VP (VBD left))"
COULD = "(NP (PRP they)) (VP (MD could) (VP (VB leave)))"
SORRY = "(NP (PRP they)) (VP (VBD were) (ADJP (JJ sorry)))"
LIST = "(NP (NN tea) (, ,) (NN milk)) (VP (VBD came))"


@pytest.mark.parametrize(
    ("parts", "expected"),
    [
        (f"(S {FOOD}) (, ,) (RB so) (S {THEY}) (. .)", "because the food was good , they left ."),
        (f"(S {FOOD}) (CC so) (S {THEY})", "because the food was good , they left"),
        (f"(SBAR (IN Because) (S {FOOD})) (, ,) {THEY} (. .)", "the food was good , so they left ."),
        (f"(SBAR (IN because) (S {FOOD})) (, ,) (S {THEY})", "the food was good , so they left"),
        (f"(S {FOOD}) (, ,) (RB so) (S {COULD})", ""),  # what for
        (f"(S {SORRY}) (, ,) (RB so) (S {THEY})", ""),
        (f"(S {FOOD}) (, ,) (CC and) (S {THEY})", ""),
        (f"(S {LIST}) (, ,) (RB so) (S {THEY})", ""),
        (f"(S {FOOD}) (, ,) (RB so) (S {THEY}) (. ?)", ""),
        (f"(S {FOOD}) (, ,) (RB so) (VP (VB go))", ""),
        (f"(SBAR (IN Because) (S {THEY})) (, ,) {FOOD}", ""),  # who "they" are stands behind
        (f"(SBAR (IN If) (S {FOOD})) (, ,) {THEY}", ""),
        (f"(SBAR (IN Because) (PP (IN of) (NP (NN rain)))) (, ,) {THEY}", ""),
        (FOOD, ""),
    ],
)
def test_the_conjunction_goes_in_front_or_between(parts: str, expected: str) -> None:
    found = [" ".join(one.words) for one in joined_otherwise(Tree.parse(f"(S {parts})"))]
    assert found == [expected] * bool(expected)


@pytest.mark.parametrize(
    ("source", "answer"),
    [
        ("The battery died, so I bought a new charger.", "Because the battery died, I bought a new charger."),
        ("Because the road was closed, we took a detour.", "The road was closed, so we took a detour."),
    ],
)
def test_it_passes_the_word_rules(source: str, answer: str) -> None:
    (tree,) = load_parser()([tokenize(source)])
    assert tree is not None
    tagged = Tagged(tree.words(), tree.tags())
    (draft,) = [one for one in framed_drafts(tagged, {}, tree) if one.text == answer]
    said = Tagged.read(draft.text)._replace(tags=load_parser()([tokenize(draft.text)])[0].tags())  # type: ignore[union-attr]
    passed = check(tagged, said, exempt=draft.exempt, framed=True, parsed=True)
    assert all(passed.values()), passed
