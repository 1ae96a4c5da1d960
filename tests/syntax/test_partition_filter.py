"""The bound by halves: never above the edits, and closer than the tags of the whole alone."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from rapidfuzz.distance import Levenshtein

from paraform.syntax.partition_filter import halves_of, keep_near, parts_of

FAR = 1 << 40


def kept(query: list[int], others: list[list[int]], radius: int, tags: int) -> tuple[list[int], list[int]]:
    """Which of the others, all of one length, stay, and the bound of each."""
    codes = np.array([code for other in others for code in other], np.uint16)
    length, count = len(others[0]), len(others)
    halves = halves_of(codes, np.arange(count + 1) * length, tags + 1)
    parts = np.empty((2, len(query) + 1), np.uint64)
    parts_of(np.array(query, np.uint16), halves.bit_of, parts)
    lanes, edits = np.arange(count), np.empty(count, np.int64)
    state, counts = np.empty((2, count), np.uint64), np.empty((2, count), np.int64)
    left = keep_near(len(query), parts, length, halves, lanes, count, radius, state, counts, edits)
    return lanes[:left].tolist(), edits.tolist()


@given(st.data(), st.sampled_from([4, 200]), st.integers(1, 40), st.integers(0, 70), st.integers(0, 20))
def test_what_is_near_stays(data: st.DataObject, tags: int, length: int, asked: int, radius: int) -> None:
    """4 tags: near ones, some of them many times over; 200: several share the last bit. 0: a tag not in the index."""
    others = data.draw(st.lists(st.lists(st.integers(1, tags), min_size=length, max_size=length), min_size=1))
    query = data.draw(st.lists(st.integers(0, tags), min_size=asked, max_size=asked))
    known = [tag or -1 for tag in query]
    distances = [Levenshtein.distance(known, other) for other in others]
    left, edits = kept(query, others, radius, tags)
    assert {row for row, distance in enumerate(distances) if distance <= radius} <= set(left)
    assert all(
        min(edit, radius + 1) <= distance or distance > radius for edit, distance in zip(edits, distances, strict=True)
    )


@pytest.mark.parametrize(("other", "bound"), [([1, 1, 2, 2], 0), ([2, 2, 1, 1], 4), ([1, 2, 1, 2], 2)])
def test_worked_by_hand(other: list[int], bound: int) -> None:
    """Their tags are the same, their halves are not: 1 1 2 2 against 2 2 1 1 needs four edits wherever it is cut."""
    assert kept([1, 1, 2, 2], [other], FAR, 2)[1] == [bound]
