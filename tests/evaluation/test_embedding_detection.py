"""Accuracies against a loop over thresholds, average precision against scikit-learn's, on ties and resamples too."""

from __future__ import annotations

import tracemalloc
from collections.abc import Sequence

import numpy as np
import pytest
from numpy.typing import NDArray
from sklearn.metrics import average_precision_score

from paraform.evaluation.bootstrap import bootstrap_interval, paired_bootstrap
from paraform.evaluation.embedding.detection import (
    GRID,
    PairSet,
    average_precision,
    best_threshold,
    grid_accuracy,
    tuned_accuracy,
)
from paraform.evaluation.embedding.space import embedded
from paraform.records import Pair, Sentence

CASES = []
for seed in range(20):
    generator = np.random.default_rng(seed)
    size = int(generator.integers(2, 60))
    labels = generator.random(size) < 0.5
    labels[:2] = True, False
    # Rounded, so that many are equal.
    CASES.append((np.round(generator.normal(size=size) * 0.3 + 0.2 * labels, int(generator.integers(1, 4))), labels))


def accuracy(found: NDArray[np.float64], labels: NDArray[np.bool_], threshold: float) -> float:
    return 100 * sum((x >= threshold) == label for x, label in zip(found, labels, strict=True)) / len(found)


@pytest.mark.parametrize(("found", "labels"), CASES)
def test_against_loops_and_scikit_learn(found: NDArray[np.float64], labels: NDArray[np.bool_]) -> None:
    threshold = best_threshold(found, labels)
    every = [found.min() - 1, *np.unique(found), found.max() + 1]
    beyond = accuracy(found, labels, found.max() + 1)  # calling none a paraphrase is no candidate
    assert accuracy(found, labels, threshold) == max(accuracy(found, labels, one) for one in every[:-1])
    assert accuracy(found, labels, threshold) >= min(beyond, 50)
    assert tuned_accuracy(found, labels, threshold).over() == pytest.approx(accuracy(found, labels, threshold))

    rows = np.random.default_rng(0).integers(0, len(found), len(found))
    rows[:2] = 0, 1
    for chosen in (np.arange(len(found)), rows):
        x, y = found[chosen], labels[chosen]
        assert grid_accuracy(found, labels).over(chosen) == pytest.approx(max(accuracy(x, y, one) for one in GRID))
        expected = 100 * average_precision_score(y, x)
        assert average_precision(found, labels).over(chosen) == pytest.approx(expected)


def test_intervals_of_precision_are_those_of_resampled_rows() -> None:
    """scikit-learn's metric of the rows that each draw of the bootstrap has."""
    (found, labels), (other, _) = CASES[3], CASES[4]
    other = np.resize(other, len(found))
    drawn = np.random.default_rng(12345).choice(len(found), size=(200, len(found)), replace=True)
    scores = 100 * np.array([[average_precision_score(labels[row], x[row]) for x in (found, other)] for row in drawn])
    metrics = average_precision(found, labels), average_precision(other, labels)
    assert bootstrap_interval(metrics[0], resamples=200) == pytest.approx(np.quantile(scores[:, 0], [0.025, 0.975]))
    compared = paired_bootstrap(*metrics, resamples=200)
    expected = np.quantile(scores[:, 0] - scores[:, 1], [0.025, 0.975])
    assert (compared.low, compared.high) == pytest.approx(expected)


def test_precision_of_many_pairs_takes_no_square_of_them() -> None:
    """20,000 pairs, a row of 1,000 bytes each in all; one byte for every pair of pairs were 381 MiB."""
    size = 20_000
    labels = np.arange(size) % 2 == 0
    found = np.random.default_rng(0).normal(size=size) + labels
    tracemalloc.start()
    metric = average_precision(found, labels)
    low, high = bootstrap_interval(metric, resamples=3)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert low - 1 < metric.over() == pytest.approx(100 * average_precision_score(labels, found)) and high - low < 5
    assert peak < 1000 * size


def test_the_papers_grid_is_minus_1_to_99_hundredths() -> None:
    assert (len(GRID), GRID[0], GRID[-1]) == (200, -1.0, 0.99)
    assert np.diff(GRID) == pytest.approx(0.01)


def test_a_resample_without_paraphrases_has_no_precision() -> None:
    metric = average_precision(np.array([0.9, 0.1]), np.array([True, False]))
    assert metric.over(np.array([1, 1])) == 0
    assert metric.over() == 100


ANGLES = {f"at {degrees}": degrees for degrees in range(0, 181, 10)}


def around(texts: Sequence[str]) -> NDArray[np.float32]:
    radians = np.radians([ANGLES[text] for text in texts])
    return np.stack([np.cos(radians), np.sin(radians)], axis=1).astype(np.float32)


def pair(degrees: int, label: int) -> Pair:
    return Pair(Sentence("at 0"), Sentence(f"at {degrees}"), label=label)


def test_a_set_takes_its_threshold_from_other_pairs() -> None:
    """Tuned between 30° and 40°: of the test pairs the paraphrase at 50° is missed, and the other at 20° is not.

    The best threshold of the test pairs themselves, below the cosine of 50°, has one of four wrong; by precision
    the paraphrases stand at ranks 1 and 3: (1/1 + 2/3) / 2.
    """
    tuning = [pair(10, 1), pair(30, 1), pair(40, 0), pair(90, 0)]
    tested = [pair(10, 1), pair(20, 0), pair(50, 1), pair(120, 0)]
    one = PairSet("Toy-Hard", tested, tuning, "seed:0")
    space = embedded(around, one.texts(), name="circle", signature="points:19")
    findings = one.measure(space)
    assert [(finding.score.name, round(finding.score.value, 6)) for finding in findings] == [
        ("accuracy", 50.0),
        ("accuracy, tuned on test", 75.0),
        ("AP", round(100 * (1 + 2 / 3) / 2, 6)),
    ]
    assert all(one.score.signature.endswith("|seed:0|points:19") for one in findings)
    assert {(one.score.system, one.score.subset) for one in findings} == {("circle", "Toy-Hard")}


def test_a_constant_space_is_at_chance() -> None:
    one = PairSet("Flat", [pair(10, 1), pair(20, 0)], [pair(30, 1), pair(40, 0)], "")
    space = embedded(lambda texts: np.ones((len(texts), 3), np.float32), one.texts(), name="flat", signature="")
    assert [finding.score.value for finding in one.measure(space)] == pytest.approx([50, 50, 50])
