"""Edit distances between a tag sequence and a block of others of one length, all of the block at once.

A bit stands for a sequence: each cell of the table that dynamic programming fills is a few logical operations on as
many bits as there are sequences. A cell keeps how it differs from its neighbours, which is −1, 0 or 1 (Myers 1999, in
the form of Hyyrö 2003, where a bit stands for a row of the table). Only the cells that a way within the radius can
cross are computed (Ukkonen 1985), and none any more once every sequence is beyond it.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from paraform.syntax.compiled import compiled
from paraform.syntax.features import Bits, Codes, ones
from paraform.syntax.lanes import WORDS, load, same, some, store

LARGEST = 32  # bits of a distance


class Planes(NamedTuple):
    """The tags of M blocks of sequences bit by bit: at each place of them the lowest bits of all, the next, …

    A place takes 64 bytes a bit, however few sequences its block has.

    Args:
        words: M times [length · bits of a tag · `WORDS`], flat.
        starts: [M + 1], where each block begins.
    """

    words: Bits
    starts: NDArray[np.int64]


@compiled
def planes_of(codes: Codes, starts: NDArray[np.int64], block_starts: NDArray[np.int64], bits: int) -> Planes:
    """Those of sequences, sequence s being codes[starts[s] : starts[s + 1]].

    Args:
        block_starts: [M + 1], the first sequence of each block.
        bits: of a tag's number.
    """
    plane_starts = np.zeros_like(block_starts)
    for block in range(len(block_starts) - 1):
        first = block_starts[block]
        plane_starts[block + 1] = plane_starts[block] + (starts[first + 1] - starts[first]) * bits * WORDS
    planes = np.zeros(plane_starts[-1], np.uint64)
    for block in range(len(block_starts) - 1):
        for sequence in range(block_starts[block], block_starts[block + 1]):
            lane = sequence - block_starts[block]
            place, unit = plane_starts[block] + (lane >> 6), np.uint64(1) << np.uint64(lane & 63)
            for at in range(starts[sequence], starts[sequence + 1]):
                for bit in range(bits):
                    if (np.int64(codes[at]) >> bit) & 1:
                        planes[place] |= unit
                    place += WORDS
    return Planes(planes, plane_starts)


@compiled
def find_equal(planes: Bits, begin: int, length: int, bits: int, tags: Codes, equal: Bits) -> None:
    """Fill, for each of some tags and each place, which of a block's sequences have it there.

    Args:
        planes, begin: the words of `Planes`, and where the block begins.
        length, bits: of its sequences, and of a tag's number.
        equal: [tags · length · `WORDS`], flat.
    """
    for number in range(len(tags)):
        tag = np.int64(tags[number])
        for at in range(length):
            found = same(True)
            for bit in range(bits):
                plane = load(planes, np.uint64(begin + (at * bits + bit) * WORDS))
                found = found & (plane if (tag >> bit) & 1 else ~plane)
            store(equal, np.uint64((number * length + at) * WORDS), found)


@compiled
def room_for(length: int) -> int:
    """Words that `find_near` needs for a query of that length."""
    return (2 * length + LARGEST + 1) * WORDS


@compiled
def find_near(
    query: NDArray[np.int64],
    equal: Bits,
    length: int,
    count: int,
    radius: int,
    room: Bits,
    lanes: NDArray[np.int64],
    distances: NDArray[np.int64],
) -> int:
    """Which sequences of a block lie within the radius, and how far off; returns how many.

    Args:
        query: numbers of its tags in `equal`.
        equal, length: what `find_equal` found, of sequences of that length.
        count: sequences of the block.
        radius: at least the difference of the lengths.
        room: at least `room_for(len(query))` words.
        lanes, distances: room for a block; filled with places in the block and distances.
    """
    step = length - len(query)
    radius = min(radius, max(length, len(query)))
    # A way that leaves the corner's diagonal or the end's for the outside comes back: two edits for each diagonal.
    beyond = (radius - abs(step)) // 2
    lowest, highest = min(0, step) - beyond, max(0, step) + beyond
    # What each may still lose on the last diagonal, where distances never fall: one bit of all, the next, …
    left, bits = 2 * len(query) * WORDS, 0
    while (radius - abs(step)) >> bits:
        store(room, np.uint64(left + bits * WORDS), same(((radius - abs(step)) >> bits) & 1 == 1))
        bits += 1
    for row in range(2 * len(query)):
        store(room, np.uint64(row * WORDS), same(row & 1 == 0))
    alive = left + LARGEST * WORDS
    for word in range(WORDS):
        filled = min(max(count - 64 * word, 0), 64)
        room[alive + word] = ~np.uint64(0) >> np.uint64(64 - filled) if filled else np.uint64(0)
    live = load(room, np.uint64(alive))
    for column in range(length):
        right_up, right_down = same(True), same(False)
        for row in range(max(0, column - highest), min(len(query), column - lowest + 1)):
            at = np.uint64(2 * row * WORDS)
            up, down = load(room, at), load(room, at + np.uint64(WORDS))
            level = load(equal, np.uint64((query[row] * length + column) * WORDS)) | down | right_down
            store(room, at, right_down | ~(level | right_up))
            store(room, at + np.uint64(WORDS), right_up & level)
            right_up, right_down = down | ~(level | up), up & level
            if column - row == step:
                lost = ~level
                for bit in range(bits):
                    plane = np.uint64(left + bit * WORDS)
                    one_less = load(room, plane) ^ lost
                    store(room, plane, one_less)
                    lost = lost & one_less
                live = live & ~lost
        if not some(live):
            return 0
    store(room, np.uint64(alive), live)
    filled = 0
    for word in range(WORDS):
        near = room[alive + word]
        while near:
            lane = ones((near & (~near + np.uint64(1))) - np.uint64(1))
            lanes[filled], distances[filled] = 64 * word + lane, radius
            for bit in range(bits):
                spared = (room[left + bit * WORDS + word] >> np.uint64(lane)) & np.uint64(1)
                distances[filled] -= np.int64(spared) << bit
            filled += 1
            near &= near - np.uint64(1)
    return filled
