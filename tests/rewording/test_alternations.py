"""Two things behind a verb that change places: on trees by hand."""

from __future__ import annotations

import pytest

from paraform.rewording.alternations import exchanged
from paraform.syntax import load_parser
from paraform.syntax.trees import Tree
from paraform.words import tokenize

FORM = "(NP (DT the) (JJ new) (NN form))"


@pytest.mark.parametrize(
    ("tree", "expected"),
    [
        (f"(S (VP (VB send) (NP (PRP me)) {FORM} (NP (NN today))))", "send the new form to me today"),
        (f"(S (VP (VB send) {FORM} (PP (TO to) (NP (NNP Tom)))))", "send Tom the new form"),
        (f"(S (NP (PRP we)) (VP (VBD wrote) (NP (PRP me)) {FORM}))", ""),
        ("(S (VP (VB give) (NP (PRP me)) (NP (PRP it))))", ""),
        (f"(S (VP (VB send) {FORM} (PP (TO to) (NP (DT the) (NN man)))))", ""),
        (f"(S (VP (VB send) {FORM} (PP (IN for) (NP (PRP me)))))", ""),
        (f"(S (VP (VB turn) {FORM} (PRT (RP on))))", "turn on the new form"),
        (
            f"(S (NP (PRP I)) (VP (VBD turned) (PRT (RP on)) {FORM} (ADVP (RB twice))))",
            "I turned the new form on twice",
        ),
        (f"(S (VP (VB send) (NP (NP (PRP me)) {FORM})))", "send the new form to me"),
        (f"(S (VP (VB turn) (PP (IN on) {FORM})))", "turn the new form on"),
        (f"(S (VP (VB turn) (PP (IN into) {FORM})))", ""),
        (f"(S (VP (VB fill) (PP (PRT (RP in)) {FORM})))", "fill the new form in"),
        (f"(S (VP (VB post) {FORM} (PP (TO to) (NP (NNP YouTube)))))", ""),
        ("(S (VP (VB pay) (NP (PRP me)) (NP (DT a) (NN visit))))", ""),
        ("(S (VP (VB turn) (NP (PRP it)) (PRT (RP on))))", ""),
        ("(S (VP (VB go) (PRT (RP on))))", ""),
        ("(S (VP (VB turn) (PRT (RP on)) (NP (DT the) (JJ old) (JJ red) (JJ oven) (NN light))))", ""),
    ],
)
def test_they_change_places_where_english_lets_them(tree: str, expected: str) -> None:
    found = [" ".join(one.words) for one in exchanged(Tree.parse(tree))]
    assert found == [expected] * bool(expected)


def test_it_is_for_a_language_model_to_judge() -> None:
    (one,) = exchanged(Tree.parse(f"(S (VP (VB turn) {FORM} (PRT (RP on))))"))
    assert (one.form, one.suits, one.parsed, one.wrapped) == ("turn … …", "most", True, False)


@pytest.mark.parametrize(
    ("source", "answer"),
    [("Send me the form.", "Send the form to me ."), ("turn on the lights", "turn the lights on")],
)
def test_the_embedded_parsers_trees_are_read(source: str, answer: str) -> None:
    (tree,) = load_parser()([tokenize(source)])
    assert tree is not None and [" ".join(one.words) for one in exchanged(tree)] == [answer]
