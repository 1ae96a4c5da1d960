"""The exact search behind the exemplar index, compiled: which sentences lie nearest in tags and may be exemplars.

Targets of one length that have similar tags are searched together: block after block of sequences, the nearest first.
A block whose tags make more edits than a target's best exemplars so far is left out; the others' sequences are all
compared with it at once.

Shape key: S different tag sequences in order of length, M blocks of at most `BLOCK` of them, G different sequences of
targets, N targets, R rows of the index, K exemplars kept of each target.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from paraform.syntax.candidates import FAR, Asked, Pool, offer
from paraform.syntax.compiled import compiled
from paraform.syntax.distances import find_equal, find_near, room_for
from paraform.syntax.features import BLOCK, Sequences, least_edits
from paraform.syntax.lanes import WORDS
from paraform.syntax.rows import Groups
from paraform.syntax.searchable import Searchable


@compiled
def search(
    index: Searchable,
    pool: Pool,
    queries: Sequences,
    groups: Groups,
    asked: Asked,
    first_group: int,
    last_group: int,
) -> None:
    """Fill `asked.found` for the targets of some groups; other threads may do so for others.

    Args:
        queries: the G different sequences of the targets.
        groups: the targets that have each of them.
    """
    lengths = np.diff(queries.starts[first_group : last_group + 1])
    first = first_group
    for group in range(first_group, last_group):
        if group + 1 == last_group or lengths[group + 1 - first_group] != lengths[group - first_group]:
            _search_length(index, pool, queries, groups, asked, first, group + 1)
            first = group + 1


@compiled
def _search_length(
    index: Searchable, pool: Pool, queries: Sequences, groups: Groups, asked: Asked, first_group: int, last_group: int
) -> None:
    """The same for groups of one length."""
    # Arrays by names of their own: taking one out of its tuple counts a reference, which is slower than comparing.
    query_codes, query_starts, query_bits = queries
    reach, (planes, plane_starts) = asked.reach, index.planes
    block_starts, every, some, of_length = index.blocks
    count = last_group - first_group
    length = query_starts[first_group + 1] - query_starts[first_group]
    gap = min(asked.rules.length_gap, max(length, len(of_length)))
    tags, numbers = _numbered(query_codes[query_starts[first_group] : query_starts[last_group]], len(index.bit_of))
    bits = 0
    while (len(index.bit_of) - 1) >> bits:
        bits += 1
    equal = np.empty(len(tags) * min(length + gap, len(of_length)) * WORDS, np.uint64)
    room = np.empty(room_for(length), np.uint64)
    lanes = np.empty(BLOCK, np.int64)
    distances = np.empty(BLOCK, np.int64)
    radius = np.zeros(count, np.int64)
    for query in range(count):
        for at in range(groups.starts[first_group + query], groups.starts[first_group + query + 1]):
            radius[query] = max(radius[query], reach[groups.members[at]])
    for turn in range(2 * gap + 1):
        step = (turn + 1) // 2 if turn % 2 else -(turn // 2)
        other_length = length + step
        if other_length < 1 or other_length + 1 >= len(of_length) or abs(step) > radius.max():
            continue
        first, last = of_length[other_length], of_length[other_length + 1]
        bounds = np.empty((count, last - first), np.int64)
        for query in range(count):
            group = first_group + query
            least_edits(query_bits[0, group], query_bits[1, group], some, every, first, last, bounds[query])
        # Blocks that are near by their bounds come first, so that the far ones need not be looked at.
        for at in np.argsort(bounds.sum(axis=0)):
            block, made = first + at, False
            for query in range(count):
                least = max(bounds[query, at], abs(step))
                if least > radius[query]:
                    continue
                if not made:
                    find_equal(planes, plane_starts[block], other_length, bits, tags, equal)
                    made = True
                tags_of_query = numbers[query * length : (query + 1) * length]
                group, size = first_group + query, block_starts[block + 1] - block_starts[block]
                own = groups.members[groups.starts[group] : groups.starts[group + 1]]
                # Where nothing is found yet, the block's nearest will do: a narrow search is cheap, all of it is not.
                within = radius[query] if radius[query] < FAR else least + 1
                while True:
                    filled = find_near(tags_of_query, equal, other_length, size, within, room, lanes, distances)
                    if filled:
                        lanes[:filled] += block_starts[block]
                        radius[query] = offer(own, lanes, filled, distances, radius[query], pool, asked)
                    if radius[query] <= within or within >= max(length, other_length):
                        break
                    within = min(radius[query], 2 * within)


@compiled
def _numbered(codes: NDArray[np.uint16], count: int) -> tuple[NDArray[np.uint16], NDArray[np.int64]]:
    """The different ones of some codes below a count, and the place of each code among them."""
    place = np.full(count, -1)
    different = np.empty(len(codes), np.uint16)
    numbers = np.empty(len(codes), np.int64)
    filled = 0
    for at in range(len(codes)):
        if place[codes[at]] < 0:
            place[codes[at]], different[filled] = filled, codes[at]
            filled += 1
        numbers[at] = place[codes[at]]
    return different[:filled], numbers
