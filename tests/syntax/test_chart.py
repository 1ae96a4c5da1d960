"""CKY against every binary tree there is."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest

from paraform.syntax.chart import best_trees, span_ends, span_place


def every_tree(start: int, end: int) -> Iterator[list[tuple[int, int]]]:
    """The spans of each binary tree over these words, the upper and the left first."""
    if end - start == 1:
        yield [(start, end)]
    for middle in range(start + 1, end):
        for left in every_tree(start, middle):
            for right in every_tree(middle, end):
                yield [(start, end), *left, *right]


@pytest.mark.parametrize("words", [1, 2, 3, 4, 5, 6, 7])
def test_equals_brute_force(words: int) -> None:
    """Of trees with equal sums, as whole numbers make many, it is the first of them, which splits further left."""
    starts, ends = (places.tolist() for places in span_ends(words))
    number = {span: place for place, span in enumerate(zip(starts, ends, strict=True))}
    assert all(span_place(*span, words) == place for span, place in number.items())
    draw = np.random.default_rng(words)
    sizes = (20, len(number))
    scores_BP = np.concatenate([draw.normal(size=sizes), draw.integers(-1, 2, size=sizes)]).astype(np.float32)
    for scores_P, chosen in zip(scores_BP, best_trees(scores_BP, words), strict=True):
        trees = [[number[span] for span in tree] for tree in every_tree(0, words)]
        assert chosen.tolist() == max(trees, key=lambda tree: scores_P[tree].sum())


def test_of_equal_trees_the_one_that_splits_further_left() -> None:
    starts, ends = span_ends(4)
    (chosen,) = best_trees(np.zeros((1, 10), np.float32), 4)
    assert [*zip(starts[chosen].tolist(), ends[chosen].tolist(), strict=True)] == [
        (0, 4), (0, 1), (1, 4), (1, 2), (2, 4), (2, 3), (3, 4)
    ]  # fmt: skip


def test_mistakes() -> None:
    with pytest.raises(ValueError, match=r"scores \(2, 5\) for 3 words; expected \[B, 6\]"):
        best_trees(np.zeros((2, 5), np.float32), 3)
    with pytest.raises(ValueError, match="for 0 words"):
        best_trees(np.zeros((2, 0), np.float32), 0)
    with pytest.raises(ValueError, match="not finite; are the head's weights damaged"):
        best_trees(np.full((1, 1), np.nan, np.float32), 1)
    assert best_trees(np.zeros((0, 3), np.float32), 2).shape == (0, 3)
