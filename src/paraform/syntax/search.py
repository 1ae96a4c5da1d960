"""The exact search behind the exemplar index, compiled: which sentences lie nearest in tags and may be exemplars.

A query is compared with ever fewer sequences: whole blocks of them, then single ones, then single ones by their halves,
are left out when the tags that they lack or have too many already make more edits than the best exemplars so far. What
remains goes through the bit-parallel edit distance of Myers (1999), in Hyyrö's form (2003), `LANES` side by side.

Shape key: S different tag sequences in order of length, M blocks of at most `BLOCK` of them, G different sequences of
targets, N targets, R rows of the index, K exemplars kept of each target.
"""

from __future__ import annotations

import numpy as np

from paraform.syntax.candidates import Asked, Pool, offer
from paraform.syntax.compiled import compiled
from paraform.syntax.distances import edit_distances
from paraform.syntax.features import BLOCK, Sequences, add_near, least_edits
from paraform.syntax.partition_filter import keep_near, parts_of
from paraform.syntax.rows import Groups
from paraform.syntax.searchable import Searchable

LANES = 64  # sequences at least that are compared side by side, but for the last ones
FAR = 1 << 40  # no distance is as great


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
    # Arrays by names of their own: taking one out of its tuple counts a reference, which is slower than comparing.
    query_codes, query_starts, query_bits = queries
    sequences, halves, reach = index.sequences, index.halves, asked.reach
    bits = sequences.bits[0]
    block_starts, every, some, of_length = index.blocks
    longest = np.diff(query_starts[first_group : last_group + 1]).max()
    gap = min(asked.rules.length_gap, max(longest, len(of_length)))
    bounds = np.empty(len(block_starts), np.int64)
    order = np.empty(len(block_starts), np.int64)
    tally = np.empty(132, np.int64)
    lanes = np.empty(LANES + BLOCK, np.int64)
    near = np.empty(2 * LANES + BLOCK, np.int64)
    distances = np.empty(2 * LANES + BLOCK, np.int64)
    state = np.empty((4, 2 * LANES + BLOCK), np.uint64)
    counts = np.empty((2, LANES + BLOCK), np.int64)
    parts = np.empty((2, longest + 1), np.uint64)
    places = np.zeros(len(index.bit_of), np.uint64)  # a tag each, and none
    for group in range(first_group, last_group):
        query = query_codes[query_starts[group] : query_starts[group + 1]]
        length = len(query)
        own = groups.members[groups.starts[group] : groups.starts[group + 1]]
        for target in own:
            reach[target] = FAR
        radius = FAR
        low, high = query_bits[0, group], query_bits[1, group]
        for at in range(length):
            if query[at] and length <= 64:  # a tag that the index has not equals none
                places[query[at]] |= np.uint64(1) << np.uint64(at)
        parts_of(query, halves.bit_of, parts)
        for turn in range(2 * gap + 1):
            step = (turn + 1) // 2 if turn % 2 else -(turn // 2)
            other_length = length + step
            if other_length < 1 or other_length + 1 >= len(of_length) or abs(step) > radius:
                continue
            first, last = of_length[other_length], of_length[other_length + 1]
            # Blocks that are near by their bounds come first, so that the far ones need not be looked at.
            tally[:] = 0
            least_edits(low, high, some, every, first, last, bounds)
            for at in range(last - first):
                tally[bounds[at] + 1] += 1
            for bound in range(130):
                tally[bound + 1] += tally[bound]
            for at in range(last - first):
                order[tally[bounds[at]]] = at
                tally[bounds[at]] += 1
            filled, kept = 0, 0
            for turn_of_block in range(last - first + 1):
                done = turn_of_block == last - first or bounds[order[turn_of_block]] > radius
                if filled and (done or filled >= LANES):
                    filled = keep_near(
                        length, parts, other_length, halves, lanes, filled, radius, state, counts, distances
                    )
                    near[kept : kept + filled] = lanes[:filled]
                    kept += filled
                    filled = 0
                if kept and (done or kept >= LANES):
                    edit_distances(query, places, sequences, near, kept, state, distances)
                    radius = offer(own, near, kept, distances, radius, pool, asked)
                    kept = 0
                if done:
                    break
                begin, end = block_starts[first + order[turn_of_block]], block_starts[first + order[turn_of_block] + 1]
                filled = add_near(low, bits, begin, end, radius, lanes, filled)
        for at in range(length):
            places[query[at]] = 0
