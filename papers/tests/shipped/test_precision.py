"""Precision, recall and the chosen threshold, in closed form."""

from __future__ import annotations

import numpy as np
import pytest

from paraform_papers.shipped.precision import known_pairs, least_threshold, precision_and_recall


def test_precision_and_recall_in_closed_form() -> None:
    clusters = np.array([7, 7, 7, 2, 2, 5])  # 3 + 1 pairs
    rows = np.array([[0, 1], [1, 2], [2, 3], [4, 5]], np.int32)
    assert known_pairs(rows, clusters).tolist() == [True, True, False, False]
    precision, recall = precision_and_recall(rows, clusters, "texts:6")
    assert (precision.over(), recall.over()) == (50.0, 50.0)
    # of the clusters 2 (half of two pairs found, 0 of 1 right) and 7 (2 and a half found, 2 of 3 right) alone
    chosen = np.array([0, 2])
    assert precision.over(chosen) == pytest.approx(100 * 2 / 3.5) and recall.over(chosen) == pytest.approx(100 * 2 / 4)
    assert precision.signature.endswith("|texts:6")


def test_nothing_found_or_nothing_known() -> None:
    none = np.zeros((0, 2), np.int32)
    precision, recall = precision_and_recall(none, np.array([0, 0]), "")
    assert (precision.over(), recall.over()) == (100.0, 0.0)
    assert precision_and_recall(none, np.array([0, 1]), "")[1].over() == 0.0


def test_the_least_threshold() -> None:
    cosines = np.array([0.95, 0.902, 0.855, 0.8, 0.7], np.float32)
    right = np.array([True, True, True, False, True])
    assert least_threshold(cosines, right, 1.0) == 0.81
    assert least_threshold(cosines, right, 0.8) == 0.01  # 4 of all 5
    assert least_threshold(cosines, ~right, 0.9) == 1.0
    assert least_threshold(cosines, np.array([True, False, False, True, True]), 0.75) == 0.91
