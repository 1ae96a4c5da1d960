"""Words taken over from an exemplar, outputs that differ with it, and distinct-n, counted by hand."""

from __future__ import annotations

import pytest

from paraform.evaluation.following import different_outputs, distinct_value, is_content, words_taken

SOURCE = ["how", "can", "i", "lose", "weight", "?"]
EXEMPLAR = ["what", "is", "the", "best", "way", "to", "learn", "java", "?"]


@pytest.mark.parametrize(
    "output, share",
    [
        ("what is the best way to lose weight ?", 2 / 4),  # best, way, lose, weight: the first two are the exemplar's
        ("how can i lose weight ?", 0.0),
        ("what is the best way to learn java ?", 1.0),
        ("what do you know of cats ?", 0.0),  # cats are nobody's, nor is "know"
        ("what is it ?", 0.0),  # no content word
        ("", 0.0),
    ],
)
def test_words_taken_are_the_exemplars_and_not_the_sources(output: str, share: float) -> None:
    assert words_taken(output.split(), SOURCE, EXEMPLAR) == pytest.approx(share)


def test_a_word_of_both_is_the_sources() -> None:
    assert words_taken(["weight"], SOURCE, ["weight", "matters"]) == 0


def test_content_words() -> None:
    assert [word for word in ("the", "?", "3", "java", "n't", "``", "don't") if is_content(word)] == [
        "3",
        "java",
        "don't",
    ]


def test_outputs_that_differ_but_for_case() -> None:
    assert different_outputs(["A cat.", "a cat.", "The cat.", "A dog."]) == 3 / 4
    assert different_outputs(["A cat."]) == 1


def test_distinct_n_counts_over_the_corpus() -> None:
    """a b a | a b: five words, two different; bigrams (a b), (b a), (a b), two different."""
    outputs = [["a", "b", "a"], ["a", "b"]]
    assert distinct_value(outputs, 1) == pytest.approx(2 / 5)
    assert distinct_value(outputs, 2) == pytest.approx(2 / 3)
    assert distinct_value([[]], 2) == 0
