"""How near a pair's target is to its source, among all targets: a figure that chooses the weights of sentence vectors.

Shape key: N pairs, D features, R pairs that are ranked at once.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from paraform.batching.pairs import parts_of_rows
from paraform.capabilities import Embed
from paraform.records import Pair

AT_ONCE = 1024  # pairs; memory grows with it


def mean_reciprocal_rank(embed: Embed, pairs: Sequence[Pair]) -> float:
    """The mean of 1 / rank of each pair's target among all, by its source; others of its own cluster do not count.

    Args:
        pairs: with clusters.
    """
    source_ND, target_ND = (embed([getattr(pair, side).text for pair in pairs]) for side in ("source", "target"))
    clusters = np.array([pair.cluster for pair in pairs])
    total = 0.0
    for here in parts_of_rows(len(pairs), AT_ONCE):
        similar_RN = source_ND[here] @ target_ND.T
        own_R = similar_RN[here - here[0], here]
        similar_RN[clusters[here, None] == clusters[None, :]] = -np.inf
        similar_RN[here - here[0], here] = own_R
        # what is as near stands before the target: that all vectors are equal, or NaN, is no success
        total += float((1 / (~(similar_RN < own_R[:, None])).sum(1)).sum())
    return total / len(pairs)
