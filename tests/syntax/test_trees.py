"""Brackets in and out, and shapes worked by hand or against NLTK's trees."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from paraform.corpora.treebank import read_treebank
from paraform.records import InputError, Origin, Sentence
from paraform.syntax.trees import (
    MAX_DEPTH,
    Tree,
    bag_of_constituents,
    below_one_root,
    delexicalized,
    depth,
    linearized,
    read_tree,
    stripped,
    template,
    top_constituents,
    tree_edit_distance,
    without_root,
)

CAT = "(ROOT (S (NP (DT The) (NN cat)) (VP (VBD sat) (PP (IN on) (NP (PRP it)))) (. .)))"
VINKEN = "( (S (NP-SBJ-1 (NNP Vinken) (-NONE- *T*-1)) (VP (MD will) (NP=2 (-NONE- *)) (ADVP|PRT (RB soon)))))"

ATOMS = st.text(st.characters(exclude_categories=("Cs", "Cc", "Z"), exclude_characters="()\x85"), min_size=1)
LABELS = ATOMS.filter(lambda label: not label.startswith("-"))
WORDS = st.text(st.characters(exclude_categories=("Cs", "Cc", "Z"), exclude_characters="\x85"), min_size=1)
LEAVES = st.builds(Tree, LABELS, st.just(()), WORDS.filter(lambda word: "-" not in word))
TREES = st.recursive(LEAVES, lambda inside: st.builds(Tree, LABELS, st.lists(inside, min_size=1).map(tuple)))


@given(TREES)
def test_round_trip(tree: Tree) -> None:
    """Any label and any words, brackets among them, come back; so do the same trees without words."""
    assert Tree.parse(str(tree)) == tree
    bare = delexicalized(tree)
    assert Tree.parse(linearized(tree)) == bare
    assert linearized(bare) == linearized(tree) == str(bare)


@given(TREES)
def test_shapes_agree_with_one_another(tree: Tree) -> None:
    leaves = list(tree.leaves())
    assert (
        len(leaves)
        == len(tree.tags())
        == len(tree.words())
        == str(tree).count("(") - sum(bag_of_constituents(Tree("ROOT", (tree,))).values())
    )
    assert 1 <= depth(tree) <= MAX_DEPTH
    assert template(tree, depth(tree)) == delexicalized(tree)
    assert depth(template(tree, 2)) == min(2, depth(tree))
    assert tree_edit_distance(tree, tree) == 0


def test_spaces_and_line_breaks_do_not_matter() -> None:
    spread = "\n(ROOT\n  (S (NP (DT The)(NN cat) )\n (VP (VBD sat)(PP (IN on) (NP (PRP it))))\t(. .)))  \n"
    assert Tree.parse(spread) == Tree.parse(CAT)
    assert str(Tree.parse(spread)) == CAT


def test_brackets_are_words() -> None:
    tree = Tree.parse("(NP (-LRB- -LRB-) (NN f-LRB-x-RRB-) (-RRB- -RRB-) (: -LCB-))")
    assert tree.words() == ("(", "f(x)", ")", "{")
    assert tree.tags() == ("-LRB-", "NN", "-RRB-", ":")
    assert str(tree) == "(NP (-LRB- -LRB-) (NN f-LRB-x-RRB-) (-RRB- -RRB-) (: {))"


def test_questionbank_has_leaves_without_tags_and_empty_brackets() -> None:
    tree = read_tree(Sentence("", tree="(PRN ( -LRB-)(NP ( )(NNS tics))( -RRB-))"))
    assert tree == Tree.parse("(PRN (-LRB- -LRB-) (NP (NNS tics)) (-RRB- -RRB-))")
    assert Tree.parse("(PRN (-LRB-) (NP (NNS)) (-RRB-))") == delexicalized(tree)  # where no words are, it is a tag


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "no tree; expected brackets such as"),
        (" \n", "no tree"),
        ("The cat", "character 1: 'The' outside the tree"),
        ("(S (NP (DT The)", "character 15: the end, with 2 brackets open"),
        ("(S (DT The)))", r"character 13: '\)' outside the tree"),
        ("(S (DT The)) (S (DT A))", r"character 14: '\(' outside the tree; expected one"),
        (")", r"character 1: '\)' outside the tree"),
        ("(S (DT The cat))", "character 12: 'cat' behind a word or a phrase"),
        ("(S (NP (DT The)) cat)", "character 18: 'cat' behind a word or a phrase"),
        ("(S (DT The (NN cat)))", "character 12: a bracket behind the word 'The'"),
        ("(" * 500, f"character {MAX_DEPTH + 1}: more than {MAX_DEPTH} brackets in one another"),
        ("()", "no tree"),
    ],
)
def test_no_tree_is_an_error_with_its_place(text: str, message: str) -> None:
    with pytest.raises(InputError, match=message):
        Tree.parse(text)


@given(st.text("()a -N\n", max_size=40))
def test_any_brackets_are_a_tree_or_an_error(text: str) -> None:
    try:
        tree = Tree.parse(text)
    except InputError:
        return
    assert Tree.parse(str(tree)) == tree or "-" in text


def test_the_deepest_that_is_read_can_be_used() -> None:
    tree = Tree.parse("(S " * (MAX_DEPTH - 1) + "(NN a)" + ")" * (MAX_DEPTH - 1))
    assert depth(tree) == MAX_DEPTH == depth(Tree.parse(str(tree)))
    assert stripped(tree) == tree
    assert bag_of_constituents(tree) == {"S": MAX_DEPTH - 1}
    assert template(tree, MAX_DEPTH) == delexicalized(tree)


@pytest.mark.parametrize("tree", [Tree("NN", word="a b"), Tree("N N", word="a"), Tree("NN", word=""), Tree("")])
def test_what_cannot_be_written(tree: Tree) -> None:
    with pytest.raises(ValueError, match="cannot stand in a tree"):
        str(Tree("S", (tree,)))


def test_stripped() -> None:
    tree = stripped(Tree.parse(VINKEN))
    assert str(tree) == "( (S (NP (NNP Vinken)) (VP (MD will) (ADVP (RB soon)))))"
    assert stripped(Tree.parse("(S (NP (-NONE- *)))")) is None
    assert str(stripped(Tree.parse("(PRN (-LRB- -LRB-) (PRP$ my))"))) == "(PRN (-LRB- -LRB-) (PRP$ my))"


def test_without_root() -> None:
    (sentence,) = without_root(Tree.parse(CAT))
    assert sentence.label == "S"
    assert without_root(sentence) == (sentence,)
    assert [tree.label for tree in without_root(Tree.parse("( (NP (NN a)) (VP (VB b)))"))] == ["NP", "VP"]
    for top in ("ROOT", "TOP", ""):
        assert str(below_one_root(Tree.parse(f"({top} (NP (NN a)))"))) == "(ROOT (NP (NN a)))"
    assert str(below_one_root(sentence)).startswith("(ROOT (S ")


def test_shapes_worked_by_hand() -> None:
    tree = Tree.parse(CAT)
    assert linearized(tree) == "(ROOT (S (NP (DT) (NN)) (VP (VBD) (PP (IN) (NP (PRP)))) (.)))"
    assert [str(template(tree, height)) for height in (1, 2, 3)] == ["(ROOT)", "(ROOT (S))", "(ROOT (S (NP) (VP) (.)))"]
    assert top_constituents(tree) == ("NP", "VP", ".")
    assert bag_of_constituents(tree) == {"S": 1, "NP": 2, "VP": 1, "PP": 1}
    assert bag_of_constituents(tree, tags=True).total() == 5 + 6
    assert depth(tree) == 6
    with pytest.raises(ValueError, match="height is 0"):
        template(tree, 0)


@pytest.mark.parametrize(
    ("one", "other", "edits"),
    [
        ("(S (NP (DT a)) (VP (VB b)))", "(S (NP (DT x)) (VP (VB y)))", 0),  # words do not count
        ("(S (NP (DT a)) (VP (VB b)))", "(S (NP (NN a)) (VP (VB b)))", 1),  # one rename
        ("(S (NP (DT a)) (VP (VB b)))", "(S (VP (VB b)))", 2),  # NP and DT go
        ("(S (VP (VB b)))", "(S (VB b))", 1),  # VP goes, its child stays
        ("(A (B b))", "(C (D (E e)))", 3),  # two renames and an insertion
    ],
)
def test_tree_edit_distance_worked_by_hand(one: str, other: str, edits: int) -> None:
    assert tree_edit_distance(Tree.parse(one), Tree.parse(other)) == edits
    assert tree_edit_distance(Tree.parse(other), Tree.parse(one)) == edits


def test_a_record_without_a_tree_is_named() -> None:
    with pytest.raises(InputError, match=r"^wsj\.mrg:7: character 4: the end"):
        read_tree(Sentence("a", tree="(S a", origin=Origin("wsj.mrg", 7)))
    with pytest.raises(InputError, match=r"^no tree"):
        read_tree(Sentence("a"))


def test_real_trees_are_those_that_nltk_reads(data: Path) -> None:
    """GUM, QuestionBank and the Penn Treebank's own brackets: labels, words and height."""
    nltk = pytest.importorskip("nltk")
    folder = data / "treebank"
    files = [folder / "gum" / "test" / "news.mrg", folder / "ptb_sample" / "wsj.mrg", folder / "questionbank"]
    for file in files:
        sentences = list(read_treebank(file))[:500]
        for sentence in sentences:
            assert sentence.tree is not None
            tree = read_tree(sentence)
            if re.search(r"\(\s*(-[LR]RB-\s*)?\)", sentence.tree):
                continue  # not brackets that NLTK can read
            peer = nltk.Tree.fromstring(sentence.tree)
            assert [leaf.replace("-LRB-", "(").replace("-RRB-", ")") for leaf in peer.leaves()] == [
                word.replace("{", "-LCB-").replace("}", "-RCB-") for word in tree.words()
            ]
            assert [tag for _, tag in peer.pos()] == list(tree.tags())
            assert peer.height() == depth(tree) + 1
            kept = stripped(tree)
            assert kept is not None
            assert (kept.words(), kept.tags()) == (
                sentence.tokens,
                tuple(re.sub(r"(?<=.)[-=|].*", "", tag) if tag[0] != "-" else tag for tag in sentence.tags),
            )
