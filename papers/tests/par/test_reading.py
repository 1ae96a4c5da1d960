"""EM and F1 of answers by hand, and which variant of a question counts."""

from __future__ import annotations

from dataclasses import replace

import pytest

from paraform.evaluation.bootstrap import bootstrap_interval, paired_bootstrap
from paraform.records import InputError
from paraform_papers.par.reading import marks_of, normalized, read_metrics
from paraform_papers.par.squad import Answer, Question


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("The Eiffel Tower.", "eiffel tower"),
        ("a  dog,\tAN ape", "dog ape"),
        ("U.S.A.", "usa"),
        ("theatre and a-ha", "theatre and aha"),
        ("24–10", "24–10"),  # a dash is no ASCII punctuation
        ("The", ""),
    ],
)
def test_what_is_compared(text: str, expected: str) -> None:
    assert normalized(text) == expected


@pytest.mark.parametrize(
    ("given", "answers", "exact", "f1"),
    [
        ("the Broncos", ["Broncos!"], 1, 1),
        ("Denver Broncos", ["Broncos"], 0, 2 / 3),  # precision 1/2, recall 1
        ("Denver Broncos", ["Broncos", "the Denver Broncos"], 1, 1),  # the best of both
        ("in the city of Paris", ["Paris, France"], 0, 1 / 3),  # in city of Paris: P 1/4, R 1/2
        ("no no no", ["no no yes"], 0, 2 / 3),  # two of three, as often as they stand there
        ("Panthers", ["Broncos"], 0, 0),
        ("", ["Broncos"], 0, 0),
        ("the", ["a"], 1, 0),  # nothing is left of either: as the official evaluation has it
        ("x y", ["y x"], 0, 1),
    ],
)
def test_marks_by_hand(given: str, answers: list[str], exact: float, f1: float) -> None:
    assert marks_of(given, answers) == pytest.approx((exact, f1))


def question(name: str, *answers: str) -> Question:
    return Question(name, "article", "what?", "context", tuple(Answer(answer, 0) for answer in answers))


def test_the_worst_variant_counts_and_the_original_only_without_one() -> None:
    """Of q1 the second variant (F1 2/3); its original, answered with nothing, does not count. q2 has none. The variants
    of q3 are alike: the first counts, so that its EM does."""
    asked = [
        question("q1", "x"),
        question("q1-a", "Denver Broncos"),
        question("q1-b", "Denver Broncos"),
        question("q2", "Paris"),
        question("q3-b", "x y"),
        question("q3-a", "x y"),
    ]
    given = {"q1": "", "q1-a": "Denver Broncos", "q1-b": "Broncos", "q2": "Paris", "q3-b": "x y", "q3-a": "y x"}
    for order in (asked, [asked[1], asked[2], asked[0], *asked[3:]]):
        exact, f1 = read_metrics(order, given)
        assert sorted(f1.rows[:, 0].tolist()) == pytest.approx([200 / 3, 100, 100])
        assert exact.over() == pytest.approx(200 / 3) and f1.over() == pytest.approx(800 / 9)
    assert "questions:3|variants:6|counted:worst F1|adversaries:2" in exact.signature
    assert "variants:2|counted:each|adversaries:0" in read_metrics([asked[0], asked[3]], given).f1.signature


def test_ids_with_hyphens_that_are_no_variants() -> None:
    """Two questions of train-…: one is right, and each counts."""
    asked = [replace(question(f"train-{at}", "x"), text=f"what is {at}?") for at in range(2)]
    exact, f1 = read_metrics(asked, {"train-0": "x", "train-1": "y"})
    assert exact.over() == f1.over() == 50 and "questions:2|variants:2|counted:each" in f1.signature


def test_intervals_and_differences() -> None:
    asked = [question(f"q{number}", "yes") for number in range(40)]
    half = {one.name: "yes" if number % 2 else "no" for number, one in enumerate(asked)}
    exact, f1 = read_metrics(asked, half)
    low, high = bootstrap_interval(exact, resamples=200)
    assert exact.name == "EM" and exact.over() == f1.over() == 50 and 30 < low < 50 < high < 70
    every = {one.name: "yes" for one in asked}
    apart = paired_bootstrap(read_metrics(asked, every).f1, read_metrics(asked, half).f1, resamples=200)
    assert apart.difference == 50 and apart.low > 0


def test_what_was_not_answered() -> None:
    asked = [question("q1", "x"), question("q2", "x"), question("q3", "x")]
    with pytest.raises(InputError, match="no answer to 'q2' and 1 more"):
        read_metrics(asked, {"q1": "x"})
    with pytest.raises(InputError, match="no question"):
        read_metrics([], {})
