"""Direct questions inside other sentences, from trees written by hand and by the embedded parser."""

from __future__ import annotations

import pytest

from paraform.rewording.indirect import indirect
from paraform.syntax import load_parser
from paraform.syntax.trees import Tree
from paraform.words import detokenize, tokenize

TELL, KNOW = "can you tell me ", "i would like to know "


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Where does she live?", TELL + "where she lives?"),
        ("Why did my payment fail?", TELL + "why my payment failed?"),
        ("Why did he go there?", TELL + "why he went there?"),
        ("What do I do now?", TELL + "what I should do now?"),
        ("How do trees grow?", TELL + "how trees grow?"),
        ("Does this app exchange money?", TELL + "whether this app exchanges money?"),
        ("Can my son have a card?", TELL + "whether my son can have a card?"),
        ("Why hasn't my ID been verified?", TELL + "why my ID hasn't been verified?"),
        ("Why didn't they come?", TELL + "why they didn't come?"),
        ("What are candles made of?", TELL + "what candles are made of?"),
        ("Why is there a fee on a transfer?", TELL + "why there is a fee on a transfer?"),
        ("Which brand makes the best shoes?", TELL + "which brand makes the best shoes?"),
        ("With what currencies can I pay?", TELL + "with what currencies I can pay?"),
        ("What currencies do you offer?", KNOW + "what currencies you offer."),
        ("Why did you not get my letter?", KNOW + "why you did not get my letter."),
        ("Why do cats not like water?", TELL + "why cats do not like water?"),
    ],
)
def test_a_question_is_asked_indirectly(text: str, expected: str) -> None:
    (tree,) = load_parser()([tokenize(text)])
    assert tree is not None
    found, *others = indirect(tree)
    assert len(others) == expected.startswith(TELL)
    assert detokenize(found.words) == expected and found.wrapped and found.parsed


@pytest.mark.parametrize(
    "text",
    [
        "Can you check this?",
        "My card does not work.",
        "Please tell me where she lives.",
        "Do you know where she lives?",
        "What is the best way to learn French?",
        "Is it hard, or is it easy?",
        "Do they go home and eat?",
        "Isn't it dangerous to swim here?",
        "Did they not receive my letter?",
        "How do I not lose my job?",
        "What is life? How does it end?",
        "?",
    ],
)
def test_what_is_no_simple_question_is_left(text: str) -> None:
    (tree,) = load_parser()([tokenize(text)])
    assert tree is not None and indirect(tree) == []


@pytest.mark.parametrize(
    "tree",
    [
        "(ROOT (SQ (VBD did) (NP (PRP he)) (VP (VB supported) (NP (PRP me))) (. ?)))",
        "(ROOT (SQ (VBZ does) (NP (PRP he)) (. ?)))",
        "(ROOT (SQ (VBZ does)))",
        "(ROOT (SBARQ (WHADVP (WRB How)) (SQ (MD ca) (NP (PRP I)) (VP (VB go)))))",
        "(ROOT (SQ (MD Can) (NP (NN court) (NN rule)) (SBAR (IN that) (S (NP (PRP it)) (VP (VBZ is)))) (. ?)))",
        "(ROOT (SBARQ (WHADVP (WRB Why)) (SQ (VBP are) (ADJP (NP (JJ many)) (ADJP (JJ liberal)))) (. ?)))",
        "(ROOT (SBARQ (WHNP (WP What)) (SQ (VBZ is) (NP (PRP$ your) (NN view) (CC and)) (VP (VB tell) (PRP me)))))",
        "(ROOT (X))",
        "(ROOT)",
    ],
)
def test_an_odd_tree_gives_none(tree: str) -> None:
    assert indirect(Tree.parse(tree)) == []
