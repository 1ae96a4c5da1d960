"""The compiled edit distance against a peer's, for queries that fit a machine word and for longer ones."""

from __future__ import annotations

import numpy as np
import pytest
from rapidfuzz.distance import Levenshtein

from paraform.syntax.distances import edit_distances
from paraform.syntax.features import Sequences


@pytest.mark.parametrize("length", [0, 1, 7, 32, 33, 63, 64, 65, 90])
@pytest.mark.parametrize("other", [1, 8, 33, 64, 70])
def test_equals_a_peer(length: int, other: int) -> None:
    draw = np.random.default_rng([length, other])
    query, many = draw.integers(0, 5, length).astype(np.uint16), draw.integers(1, 5, (40, other)).astype(np.uint16)
    sequences = Sequences(many.ravel(), np.arange(41) * other, np.zeros((2, 40), np.uint64))
    places = np.zeros(5, np.uint64)
    for at, tag in enumerate(query[:64] if length <= 64 else []):
        places[tag] |= np.uint64(1) << np.uint64(at)
    places[0] = 0  # a tag that the index has not equals none
    lanes, distances = np.arange(40)[::-1].copy(), np.full(40, -1)
    edit_distances(query, places, sequences, lanes, 40, np.empty((4, 40), np.uint64), distances)
    known = [int(tag) or -1 for tag in query]
    assert distances.tolist() == [Levenshtein.distance(known, many[lane].tolist()) for lane in lanes]
