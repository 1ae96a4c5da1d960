"""How many of the pairs that were found are known to mean the same, and how many of those that are known were found.

What is known are labelled clusters. Two texts of different clusters may mean the same all the same, so the precision
here is a lower bound, if the labels are right.

Shape key: N texts, P pairs, C clusters.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from paraform.evaluation.metrics import RowMetric
from paraform.score import signature


def known_pairs(rows_P2: NDArray[np.int32], clusters_N: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Which pairs are of one labelled cluster, [P]."""
    same_P: NDArray[np.bool_] = clusters_N[rows_P2[:, 0]] == clusters_N[rows_P2[:, 1]]
    return same_P


def precision_and_recall(
    rows_P2: NDArray[np.int32], clusters_N: NDArray[np.int64], settings: str
) -> tuple[RowMetric, RowMetric]:
    """Of the pairs found those of one cluster, and of all pairs of one cluster those found, in percent.

    The rows are clusters, so that a resample draws them whole; a pair of two clusters is half of each. Of no pairs at
    all the precision is 100.

    Args:
        settings: how the pairs were found, for the signature.
    """
    _, cluster_N, sizes_C = np.unique(clusters_N, return_inverse=True, return_counts=True)
    found_C, right_C = np.zeros(len(sizes_C)), np.zeros(len(sizes_C))
    for side in range(2):
        np.add.at(found_C, cluster_N[rows_P2[:, side]], 0.5)
        np.add.at(right_C, cluster_N[rows_P2[known_pairs(rows_P2, clusters_N), side]], 0.5)
    sums_C3 = np.stack([right_C, found_C, sizes_C * (sizes_C - 1) / 2], axis=1)
    told = f"{signature(unit='percent', right='of one labelled cluster', resampled='clusters')}|{settings}"

    def precision(sums: NDArray[np.float64]) -> float:
        return 100 * float(sums[0] / sums[1]) if sums[1] else 100.0

    def recall(sums: NDArray[np.float64]) -> float:
        return 100 * float(sums[0] / sums[2]) if sums[2] else 0.0

    return RowMetric("precision", sums_C3, told, precision, 1), RowMetric("recall", sums_C3, told, recall, 1)


def least_threshold(cosines_P: NDArray[np.float32], right_P: NDArray[np.bool_], precision: float) -> float:
    """The lowest threshold in steps of 0.01 from which on at least that share of pairs is right; 1 if there is none.

    Args:
        cosines_P, right_P: of each pair that was found, from the highest cosine down.
        precision: above 0, at most 1.
    """
    for threshold in np.arange(1, 101) / 100:
        found = int(np.searchsorted(-cosines_P, -threshold, side="right"))
        if found and right_P[:found].mean() >= precision:
            return float(threshold)
    return 1.0
