"""Negatives of the same form, and of the same words in other roles."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
import tiny_disentangled as tiny

from paraform import corpora
from paraform.models.disentangled.negatives import as_text, exchanged, same_form
from paraform.models.disentangled.symbols import TreeSymbols
from paraform.models.disentangled.table import hard_negatives, pair_table
from paraform.records import Pair, Sentence
from paraform.syntax.trees import Tree


def test_two_phrases_change_places() -> None:
    tree = Tree.parse("(ROOT (S (NP (DT The) (NN cat)) (VP (VBD chased) (NP (DT a) (NN dog)))))")
    found = exchanged(tree)
    assert str(found) == "(ROOT (S (NP (DT a) (NN dog)) (VP (VBD chased) (NP (DT The) (NN cat)))))"
    assert found is not None and as_text(found, "The cat chased a dog.") == "a dog chased The cat"


def test_what_is_exchanged_is_written_as_the_source_is() -> None:
    tree = Tree.parse("(S (NP (DT the) (NN chief)) (, ,) (VP (VBZ sees) (NP (PRP us))))")
    assert as_text(tree, "the chief , sees us") == "the chief , sees us"
    assert as_text(tree, "the chief, sees us") == "the chief, sees us"


def test_names_change_places_with_names_and_numbers_with_numbers() -> None:
    """Inside one noun phrase there are no two phrases to exchange; of 3 and 4 and of Ann and Bob the seed decides."""
    tree = Tree.parse("(S (VP (VB Give) (NNP Ann) (CD 3) (CC and) (NNP Bob) (CD 4)))")
    found = {as_text(made, "Give Ann 3 and Bob 4") for seed in range(12) if (made := exchanged(tree, seed=seed))}
    assert found == {"Give Bob 3 and Ann 4", "Give Ann 4 and Bob 3"}


@pytest.mark.parametrize(
    "text",
    [
        "(S (VP (VB Stop)))",
        "(S (NP (PRP it)) (VP (VBZ is) (NP (PRP It))))",  # the same words
        "(NP (NNP C++) (CC and) (NNP Java))",  # a coordination
        "(S (NP (NP (NN tea)) (, ,) (NP (NN milk)) (CC or) (NP (NN rum))))",
        "(S (NP (DT a) (NN cat)) (VP (VBZ is) (NP (DT an) (NN animal))))",  # a copula alone
        "(SBARQ (WHNP (WP what)) (SQ (VBZ does) (NP (NP (WP who)) (VP (VB see) (NP (NN tea))))))",  # a question word
        "(S (NP (NP (DT a) (NN cup)) (PP (IN of)))  (VP (VBZ is)))",  # one inside the other
    ],
)
def test_no_two_to_exchange(text: str) -> None:
    assert exchanged(Tree.parse(text)) is None


def test_the_same_form_is_another_cluster_s(question_pairs: Path, own_cache: None) -> None:
    pairs = corpora.clusters(list(corpora.read_pairs(question_pairs))[:60])
    clusters = {side.text: pair.cluster for pair in pairs for side in (pair.source, pair.target)}
    found = same_form(pairs, max_tokens=40)
    assert sum(text is not None for text in found) > 50
    for pair, text in zip(pairs, found, strict=True):
        if text is not None:
            assert clusters[text] != pair.cluster
            assert len(text.split()) == pytest.approx(len(pair.target.text.split()), abs=2)


def test_negatives_are_numbered_with_clusters_of_their_own() -> None:
    """Of the two words orders of one pair nothing new is made twice; what somebody says is no negative."""
    trees = tiny.parsed()
    rows = hard_negatives(tiny.PAIRS, trees, replace(tiny.TINY, contrast_weight=1.0, role_negatives=1), seed=0)
    assert rows == [[None], [None], ["tea like we"], [None]]
    table = pair_table(
        tiny.PAIRS, trees, tiny.TINY, tiny.tokenizer(), TreeSymbols.of(trees.values(), brackets=True), negatives=rows
    )
    assert table.negatives.tolist() == [[-1], [-1], [8], [-1]]
    assert table.clusters[:8].tolist() == [0, 0, 1, 1, 2, 2, 3, 3] and table.clusters[8] < -1
    assert hard_negatives(tiny.PAIRS, trees, tiny.TINY, seed=0) == []


def test_a_share_of_the_pairs_has_a_negative() -> None:
    """Those drawn have the same one as if all had."""
    there = "(S (NP (DT the) (NN n{})) (VP (VBZ sees) (NP (DT a) (NN m{}))))"
    trees = {f"the n{n} sees a m{n}": Tree.parse(there.format(n, n)) for n in range(200)}
    pairs = [Pair(Sentence(text), Sentence(text + " !"), cluster=n) for n, text in enumerate(trees)]
    trees |= {pair.target.text: trees[pair.source.text] for pair in pairs}
    for field in ("role_negatives", "form_negatives"):
        found = []
        for share in (1.0, 0.3):
            config = replace(tiny.TINY, contrast_weight=1.0, **{field: share})
            found.append([row[0] for row in hard_negatives(pairs, dict(trees), config, seed=0)])
        whole, part = found
        there_are = sum(text is not None for text in whole)
        assert there_are > 150 and 0.2 * there_are < sum(text is not None for text in part) < 0.4 * there_are
        assert all(one in (None, other) for one, other in zip(part, whole, strict=True))


def test_what_somebody_says_is_no_negative_and_long_trees_are_cut() -> None:
    there = "(S (NP (DT the) (NN {})) (VP (VBZ sees) (NP (DT the) (NN {}))))"
    trees = {"the dog sees the cat": Tree.parse(there.format("dog", "cat"))}
    other = {"the cat sees the dog": Tree.parse(there.format("cat", "dog"))}
    pairs = [Pair(Sentence("the dog sees the cat"), Sentence("the dog sees the cat"), cluster=0)]
    config = replace(tiny.TINY, role_negatives=1, contrast_weight=1.0, max_symbols=5)
    assert hard_negatives(pairs, {**trees, **other}, config, seed=0) == [[None]]
    assert hard_negatives(pairs, dict(trees), config, seed=0) == [["the cat sees the dog"]]
    symbols = TreeSymbols.of(trees.values(), brackets=True)
    table = pair_table(pairs, trees, config, tiny.tokenizer(), symbols)
    assert len(table.symbols.values) == 5
