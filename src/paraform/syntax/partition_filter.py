"""A closer bound on the edits between two tag sequences: the halves of one are looked at apart.

However a query is edited into a sequence, some place of the query comes to lie at the sequence's middle. What stands
before that place becomes the first half and what stands behind it the second, so that the features which the two pairs
of parts do not share, added up, are edits at least; the place is the one for which they are fewest.

Shape key: S different tag sequences.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from paraform.syntax.compiled import compiled
from paraform.syntax.features import Bits, Codes, features, frequencies, informative, ones


class Halves(NamedTuple):
    """What the halves of S tag sequences hold; of an odd number of tags, the first half has one less.

    Args:
        bits: [S, 2], the features of the first half and of the second.
        bit_of: [tags, ranks], the bit of each feature, of 64.
    """

    bits: Bits
    bit_of: NDArray[np.int64]


def halves_of(codes: Codes, starts: NDArray[np.int64], tags: int) -> Halves:
    """Those of S sequences; sequence s is codes[starts[s] : starts[s + 1]]."""
    middles = starts[:-1] + np.diff(starts) // 2
    half_starts = np.append(np.stack([starts[:-1], middles], axis=1), starts[-1])
    bit_of = informative(frequencies(codes, half_starts, tags), len(half_starts) - 1, 64)
    return Halves(features(codes, half_starts, bit_of)[0].reshape(-1, 2), bit_of)


@compiled
def parts_of(query: Codes, bit_of: NDArray[np.int64], parts: Bits) -> None:
    """Fill, for every place of the query, the features of what stands before it and of what stands behind.

    Args:
        parts: [2, at least len(query) + 1].
    """
    count = len(query)
    seen = np.zeros(len(bit_of), np.int64)
    parts[0, 0], parts[1, count] = np.uint64(0), np.uint64(0)
    for at in range(count):
        parts[0, at + 1] = parts[0, at] | _bit(query[at], seen, bit_of)
    seen[:] = 0
    for at in range(count - 1, -1, -1):
        parts[1, at] = parts[1, at + 1] | _bit(query[at], seen, bit_of)


@compiled
def _bit(code: int, seen: NDArray[np.int64], bit_of: NDArray[np.int64]) -> np.uint64:
    """The feature that one more of this tag adds."""
    bit = bit_of[code, min(seen[code], bit_of.shape[1] - 1)]
    seen[code] += 1
    return np.uint64(1) << np.uint64(bit) if bit >= 0 else np.uint64(0)


@compiled
def keep_near(
    count: int,
    parts: Bits,
    length: int,
    halves: Halves,
    lanes: NDArray[np.int64],
    filled: int,
    radius: int,
    state: Bits,
    counts: NDArray[np.int64],
    edits: NDArray[np.int64],
) -> int:
    """Leave in the lanes, in front, the sequences that may lie within the radius of the query; returns how many.

    Args:
        count, parts: the query's length, and what `parts_of` makes of it.
        length, halves: the sequences' one length, and their features.
        lanes: numbers of sequences, the first `filled` of which count.
        state, counts, edits: room for two, two and one rows of lanes.
    """
    middle, bits = length // 2, halves.bits
    for lane in range(filled):
        row = np.uint64(lanes[lane])  # a place without a sign needs no look whether it is below 0
        one, other = bits[row, 0], bits[row, 1]
        state[0, lane], state[1, lane], counts[0, lane], counts[1, lane] = one, other, ones(one), ones(other)
        edits[lane] = radius + 1
    for at in range(count + 1):
        if abs(at - middle) + abs(count - at - (length - middle)) > radius:
            continue
        before, behind = parts[0, at], parts[1, at]
        many_before, many_behind = ones(before), ones(behind)
        for lane in range(filled):  # without a branch, so that it becomes vector instructions
            needed = max(many_before, counts[0, lane]) + max(many_behind, counts[1, lane])
            shared = ones(before & state[0, lane]) + ones(behind & state[1, lane])
            edits[lane] = min(edits[lane], needed - shared)
    kept = 0
    for lane in range(filled):
        lanes[kept] = lanes[lane]
        kept += edits[lane] <= radius
    return kept
