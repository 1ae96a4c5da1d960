"""Labelled F1 against an example counted by hand, by evalb's rules."""

from __future__ import annotations

from pathlib import Path

import pytest

from paraform.corpora.treebank import read_treebank
from paraform.evaluation import evaluate_syntax
from paraform.evaluation.syntax import matched
from paraform.records import InputError
from paraform.syntax.trees import Tree, read_tree, stripped

GOLD = Tree.parse(
    "(ROOT (S (NP (PRP He)) (, ,) (VP (VBD gave) (PRT (RP up)) (NP (DT the) (NN job)) (PP (IN at) (NP (NN noon))))"
    " (. .)))"
)
FOUND = Tree.parse(
    "(TOP (S (NP (PRP He)) (VP (, ,) (VBD gave) (ADVP (RB up)) (NP (DT the) (NN job) (PP (IN at) (NP (NN noon)))))"
    " (. .)))"
)


def test_counted_by_hand() -> None:
    """He gave up the job at noon. Gold: S, NP (He), VP, PRT, NP (the job), PP, NP (noon): 7. Found: S, NP (He), VP (the
    comma that it begins with is no word), ADVP (equal to PRT), NP (the job at noon), PP, NP (noon): 7. All but the
    wide NP match: 6. Tags: one of 9 is wrong (up)."""
    assert matched(GOLD, FOUND) == (6, 7, 7)
    scores = {score.name: score for score in evaluate_syntax([GOLD], [FOUND], parser="p", data="d")}
    assert scores["labelled F1"].value == pytest.approx(100 * 2 * 6 / 14)
    assert scores["precision"].value == scores["recall"].value == pytest.approx(100 * 6 / 7)
    assert scores["exact match"].value == 0
    assert scores["tag accuracy"].value == pytest.approx(100 * 8 / 9)
    assert scores["labelled F1"].signature == (
        "constituents:evalb-collins|punctuation:ignored|root:ignored|adverbs:ADVP=PRT|parser:p|data:d"
    )


@pytest.mark.parametrize(
    ("gold", "found", "counts"),
    [
        # twice the same label over the same words counts twice
        ("(S (NP (NP (NN a))) (VP (VB b)))", "(S (NP (NN a)) (VP (VB b)))", (3, 4, 3)),
        # a constituent of punctuation alone is none
        ("(S (NP (NN a)) (PRN (: -)))", "(S (NP (NN a)) (: -))", (2, 2, 2)),
        # the gold tags say what is punctuation
        ("(S (NP (NN a)) (NN .))", "(S (NP (NN a)) (. .))", (2, 2, 2)),
        ("(S (NP (NN a)) (NN .))", "(S (NP (NN a) (. .)))", (1, 2, 2)),
        # brackets are words; the same label elsewhere is another constituent
        ("(S (-LRB- -LRB-) (NP (NN a)) (-RRB- -RRB-))", "(S (NP (-LRB- -LRB-) (NN a)) (-RRB- -RRB-))", (1, 2, 2)),
        # neither root counts, of whatever name
        ("(ROOT (NP (NN a)))", "( (NP (NN a)))", (1, 1, 1)),
    ],
)
def test_rules_of_evalb(gold: str, found: str, counts: tuple[int, int, int]) -> None:
    assert matched(Tree.parse(gold), Tree.parse(found)) == counts


@pytest.mark.parametrize(
    ("words", "group"),
    [
        (1, "1-10 words"),
        (10, "1-10 words"),
        (11, "11-20 words"),
        (20, "11-20 words"),
        (21, "21-30 words"),
        (30, "21-30 words"),
        (31, "31-40 words"),
        (40, "31-40 words"),
        (41, "over 40 words"),
    ],
)
def test_a_length_belongs_to_one_group(words: int, group: str) -> None:
    """Punctuation counts as words here: it is the sentence's length, not that of what evalb compares."""
    tree = Tree.parse(f"(S {' '.join(['(NN a)'] * (words - 1))} (. .))")
    scores = evaluate_syntax([tree], [tree], parser="p", data="d")
    assert {score.subset for score in scores} == {"all", group}


def test_over_several_trees_and_groups() -> None:
    """F1 is of the sums over trees, not the mean of F1s; a tree that was not found has nothing right."""
    other = Tree.parse("(S (NP (NN a)) (VP (VB b)))")
    scores = evaluate_syntax(
        [GOLD, other, other], [FOUND, other, None], parser="p", data="d", groups={"x": [1], "y": [2]}
    )
    value = {(score.subset, score.name): score.value for score in scores}
    assert value["all", "labelled F1"] == pytest.approx(100 * 2 * (6 + 3 + 0) / (7 + 3 + 3 + 7 + 3))
    assert value["all", "exact match"] == pytest.approx(100 / 3)
    assert value["x", "labelled F1"] == 100 and value["y", "labelled F1"] == 0
    assert value["1-10 words", "tag accuracy"] == value["all", "tag accuracy"] == pytest.approx(100 * 10 / 13)
    assert {subset for subset, _ in value} == {"all", "x", "y", "1-10 words"}


def test_mistakes() -> None:
    with pytest.raises(InputError, match=r"empty\.mrg: no tree to compare with"):
        evaluate_syntax([], [], parser="p", data="empty.mrg")
    with pytest.raises(ValueError, match="different words"):
        matched(GOLD, Tree.parse("(S (NN other))"))


def test_a_treebank_is_all_right_by_itself(data: Path) -> None:
    trees = [
        stripped(read_tree(sentence)) for sentence in read_treebank(data / "treebank" / "gum" / "dev" / "court.mrg")
    ]
    gold = [tree for tree in trees if tree]
    assert {score.value for score in evaluate_syntax(gold, gold, parser="gold", data="court")} == {100.0}
