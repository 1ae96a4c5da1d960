"""A part of the pairs, kept from training: whole duplicate clusters, so that no paraphrase of it is trained on."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Sequence

from paraform.records import InputError, Pair


def hold_out(pairs: Sequence[Pair], *, share: float, most: int, seed: int) -> tuple[list[Pair], list[Pair]]:
    """Pairs to train on, and pairs of other clusters, drawn by seed; both in their order.

    Args:
        pairs: with clusters.
        share, most: of the pairs, about how many are held out: this share, and never more than `most`.
    Raises: InputError if there are fewer than two clusters.
    """
    sizes = Counter(pair.cluster for pair in pairs)
    if len(sizes) < 2:
        raise InputError(f"{len(pairs)} pairs in {len(sizes)} cluster; expected two or more, or --validation")
    room = min(most, max(1, round(share * len(pairs))))
    order = list(sizes)
    random.Random(seed).shuffle(order)
    held = set()
    for cluster in order:
        if sizes[cluster] <= room:
            held.add(cluster)
            room -= sizes[cluster]
    if not held:  # every cluster is larger than the share
        held = {min(order, key=sizes.__getitem__)}
    return [pair for pair in pairs if pair.cluster not in held], [pair for pair in pairs if pair.cluster in held]
