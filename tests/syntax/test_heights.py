"""The heights that a tree is cut at, and which of the outputs is kept."""

from __future__ import annotations

import itertools
import random

import pytest
from rouge_score.rouge_scorer import RougeScorer

from paraform.records import InputError
from paraform.syntax.heights import heights_of, nearest, overlap_f1, said_at, words_of
from paraform.syntax.trees import Tree, depth, linearized


def test_heights() -> None:
    """F is the whole tree; R goes from max(3, H − 4) to H; a height beyond the tree is told."""
    tree = Tree.parse("(ROOT (S (NP (NP (DT) (NN)) (PP (IN) (NP (NN)))) (VP (VB))))")
    assert depth(tree) == 6
    assert heights_of(tree, "full") == [6]
    assert heights_of(tree, "best") == [6, 5, 4, 3]
    assert heights_of(Tree.parse("(ROOT (S (A (B (C (D (E (F))))))))"), "best") == [8, 7, 6, 5, 4]
    assert heights_of(Tree.parse("(ROOT (S))"), "best") == [2]
    assert heights_of(tree, 4) == [4]
    with pytest.raises(
        InputError, match="height 7 is beyond the tree of exemplar 3, which has 6 levels; expected 2 to"
    ):
        heights_of(tree, 7, 3)
    with pytest.raises(InputError, match="height 1; expected"):
        heights_of(tree, 1)
    with pytest.raises(InputError, match="height 'whole'; expected full, best or a number of levels"):
        heights_of(tree, "whole")


def test_the_nearest_output_is_that_of_rouge_1() -> None:
    """Google's rouge_score without stemming, on random sentences of few words; the first of equals."""
    draw, scorer = random.Random(3), RougeScorer(["rouge1"])
    some = [" ".join(draw.choices(["the", "Dog", "ran", "home", "2", "?"], k=draw.randint(1, 6))) for _ in range(40)]
    for one, other in itertools.pairwise(some):
        expected = scorer.score(one, other)["rouge1"].fmeasure
        assert overlap_f1(words_of(one), words_of(other)) == pytest.approx(expected)
    assert nearest("the dog ran", ["a cat", "The dog sat", "dog the ran", "the dog ran"]) == 2
    assert nearest("?", ["!", "."]) == 0


def test_what_is_said_at_heights() -> None:
    """Every cut is asked for, the fullest first; of a source's outputs the nearest is kept."""
    trees = [Tree.parse("(ROOT (S (NP (NN)) (VP)))"), Tree.parse("(ROOT (S))")]
    asked = []

    def say(rows: list[int], forms: list[Tree]) -> list[str]:
        asked.append([(row, linearized(form)) for row, form in zip(rows, forms, strict=True)])
        return [f"{'a dog' if depth(form) == 3 else 'a'} {row}" for row, form in zip(rows, forms, strict=True)]

    assert said_at(["the dog", "a cat"], trees, "best", say) == ["a dog 0", "a 1"]
    assert said_at(["the dog", "a cat"], trees, 2, say) == ["a 0", "a 1"]
    assert asked == [
        [(0, "(ROOT (S (NP (NN)) (VP)))"), (0, "(ROOT (S (NP) (VP)))"), (1, "(ROOT (S))")],
        [(0, "(ROOT (S))"), (1, "(ROOT (S))")],
    ]
