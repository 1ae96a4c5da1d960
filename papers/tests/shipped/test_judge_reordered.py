"""Other orders that say the same: each kind on a tree by hand, and on what the embedded parser says."""

from __future__ import annotations

import random

import pytest

from paraform.syntax import load_parser
from paraform.syntax.trees import Tree
from paraform_papers.shipped.judge_reordered import orders, reordered

TOM = "(NP (NNP Tom))"
ROME = "(PP (IN in) (NP (NNP Rome)))"
MAY = "(PP (IN on) (NP (NNP May) (CD 2)))"


@pytest.mark.parametrize(
    ("tree", "kind", "expected"),
    [
        (f"(S {TOM} (VP (VBD met) (NP (PRP us)) {ROME}) (. .))", "front", "in Rome , Tom met us ."),
        (f"(S {ROME} (, ,) {TOM} (VP (VBD met) (NP (PRP us))) (. .))", "end", "Tom met us in Rome ."),
        ("(NP (NNS apples) (CC and) (NNS pears))", "and", "pears and apples"),
        ("(NP (NP (DT a) (NN dog)) (, ,) (NP (CD two) (NNS cats)) (CC or) (NP (NNS mice)))", "list",
         "mice , two cats or a dog"),
        (f"(VP (VBD stood) {ROME} {MAY})", "adjuncts", "stood on May 2 in Rome"),
        (f"(NP {TOM} (, ,) (NP (DT the) (NN mayor)) (, ,))", "apposition", "the mayor , Tom ,"),
        ("(NP (NP (NNP Rome) (POS 's)) (JJ old) (NN mayor))", "genitive", "the old mayor of Rome"),
        ("(NP (NP (DT the) (NN mayor)) (PP (IN of) (NP (NNP Rome))))", "genitive", "Rome 's mayor"),
    ],
)  # fmt: skip
def test_each_kind(tree: str, kind: str, expected: str) -> None:
    parsed = Tree.parse(tree)
    words = parsed.words()
    found = {part.kind: " ".join([*words[: part.start], *part.words, *words[part.stop :]]) for part in orders(parsed)}
    assert found[kind] == expected


@pytest.mark.parametrize(
    "tree",
    [
        "(NP (DT the) (JJ old) (NN cat) (CC and) (NN dog) (NN food))",  # what is old, and what is food
        "(NP (NNS apples) (CC but) (NNS pears))",
        f"(VP (VBD stood) {ROME} (PP (IN by) (NP (NNP May))))",
        "(NP (NP (NNP May) (CD 2)) (, ,) (NP (CD 1783)) (, ,))",
        "(NP (NP (DT a) (NN cup)) (PP (IN of) (NP (NN tea))))",
        f"(S {TOM} (VP (VBD gave) (PRT (RP up))) (. .))",
    ],
)
def test_what_has_one_order_alone(tree: str) -> None:
    assert not [*orders(Tree.parse(tree))]


def test_texts_are_written_as_they_were() -> None:
    texts = ["In 1787, Anna left Rome with her aunts and sisters.", "Go!", ""]
    (some, *none) = reordered(texts, load_parser(device="cpu"), random.Random(0), most=3)
    assert none == [[], []] and "Anna left Rome with her aunts and sisters in 1787." in some
    assert any("sisters and aunts" in text for text in some)
