"""Edit distances of a whole block against a peer's, and the planes and masks that they are computed from."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from rapidfuzz.distance import Levenshtein

from paraform.syntax.distances import find_equal, find_near, planes_of, room_for
from paraform.syntax.features import BLOCK
from paraform.syntax.lanes import WORDS


def near(query: list[int], others: list[list[int]], radius: int, greatest: int) -> dict[int, int]:
    """Which of a block lie within the radius, and how far off."""
    length, bits = len(others[0]), greatest.bit_length()
    codes = np.array([code for other in others for code in other], np.uint16)
    planes = planes_of(codes, np.arange(len(others) + 1) * length, np.array([0, len(others)]), bits)
    tags, numbers = np.unique(np.array(query, np.uint16), return_inverse=True)
    equal = np.empty(len(tags) * length * WORDS, np.uint64)
    find_equal(planes.words, 0, length, bits, tags, equal)
    lanes, distances = np.full(BLOCK, -1), np.full(BLOCK, -1)
    room = np.empty(room_for(len(query)), np.uint64)
    filled = find_near(numbers.astype(np.int64), equal, length, len(others), radius, room, lanes, distances)
    return dict(zip(lanes[:filled].tolist(), distances[:filled].tolist(), strict=True))


def peer(query: list[int], others: list[list[int]], radius: int) -> dict[int, int]:
    known = [tag or -1 for tag in query]  # a tag that the index has not equals none
    distances = {lane: Levenshtein.distance(known, other) for lane, other in enumerate(others)}
    return {lane: distance for lane, distance in distances.items() if distance <= radius}


@pytest.mark.parametrize("length", [0, 1, 7, 33, 64, 65, 90])
@pytest.mark.parametrize("other", [1, 8, 33, 70])
def test_equals_a_peer(length: int, other: int) -> None:
    """A whole block, some of it like the query; from the least radius that there is to one that leaves none out."""
    draw = np.random.default_rng([length, other])
    query = draw.integers(0, 6, length).tolist()
    others = draw.integers(1, 6, (BLOCK, other)).tolist()
    for row in range(0, BLOCK, 3):
        at = draw.integers(max(1, other - 3))
        others[row] = ([tag or 1 for tag in query[:at]] + [1, *query[at:], 2, 2] + others[row])[:other]
        others[row] = [tag or 1 for tag in others[row]]
    for radius in (*range(abs(length - other), abs(length - other) + 9), 1 << 40):
        assert near(query, others, radius, 5) == peer(query, others, radius)


@given(st.data(), st.sampled_from([3, 200]), st.integers(1, 12), st.integers(0, 14), st.integers(0, 14))
def test_what_is_near_is_found(data: st.DataObject, tags: int, length: int, asked: int, beyond: int) -> None:
    """Few tags: many are near; many: numbers of eight bits. A block that is not full."""
    others = data.draw(st.lists(st.lists(st.integers(1, tags), min_size=length, max_size=length), min_size=1))
    query = data.draw(st.lists(st.integers(0, tags), min_size=asked, max_size=asked))
    radius = abs(length - asked) + beyond
    assert near(query, others, radius, tags) == peer(query, others, radius)


def test_planes_worked_by_hand() -> None:
    """1 2 and 3 1: at the first place the low bits are 1 1 and the high ones 0 1; at the second 0 1 and 1 0."""
    planes = planes_of(np.array([1, 2, 3, 1], np.uint16), np.array([0, 2, 4]), np.array([0, 2]), 2)
    assert planes.words.reshape(2, 2, WORDS)[:, :, 0].tolist() == [[0b11, 0b10], [0b10, 0b01]]
    assert not planes.words.reshape(2, 2, WORDS)[:, :, 1:].any() and planes.starts.tolist() == [0, 4 * WORDS]
