"""Which tags a sequence holds, in 128 bits: what bounds the edits between two sequences without comparing them.

A feature is a tag, or that tag a second, third … time. An edit adds or removes at most one of each kind, so that the
features which one sequence has and another lacks, counted, are edits at least.

Shape key: S different tag sequences, M blocks of them.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from paraform.syntax.compiled import compiled
from paraform.syntax.lanes import WIDTH

BLOCK = WIDTH
RANKS = 16  # how often a tag may stand in a sequence and still be counted

Codes = NDArray[np.uint16]
Bits = NDArray[np.uint64]


class Sequences(NamedTuple):
    """Different tag sequences, as arrays; sequence s is codes[starts[s] : starts[s + 1]].

    Args:
        codes: numbers of tags, from 1; 0 is a tag that the index has not.
        starts: [S + 1].
        bits: [2, S], which features it has: a tag, or that tag a second, third … time; the telling ones come first.
    """

    codes: Codes
    starts: NDArray[np.int64]
    bits: Bits


class Blocks(NamedTuple):
    """Sequences of one length that have similar tags, in a row.

    Args:
        starts: [M + 1], the first sequence of each.
        every: [2, M], the features that all of them have.
        some: [2, M], the features that at least one has.
        of_length: [longest + 2], the first block of each length.
    """

    starts: NDArray[np.int64]
    every: Bits
    some: Bits
    of_length: NDArray[np.int64]


@compiled
def features(codes: Codes, starts: NDArray[np.int64], bit_of: NDArray[np.int64]) -> Bits:
    """The bits of each sequence: `bit_of` [tags, ranks] names the bit of a tag's first, second … time."""
    bits = np.zeros((2, len(starts) - 1), np.uint64)
    seen = np.zeros(len(bit_of), np.int64)
    for sequence in range(len(starts) - 1):
        for at in range(starts[sequence], starts[sequence + 1]):
            code = codes[at]
            rank = min(seen[code], bit_of.shape[1] - 1)
            bit = bit_of[code, rank]
            if bit >= 0:
                bits[bit >> 6, sequence] |= np.uint64(1) << np.uint64(bit & 63)
            seen[code] += 1
        for at in range(starts[sequence], starts[sequence + 1]):
            seen[codes[at]] = 0
    return bits


@compiled
def frequencies(codes: Codes, starts: NDArray[np.int64], tags: int) -> NDArray[np.int64]:
    """How many sequences hold each tag at least once, twice … `RANKS` times: [tags, RANKS]."""
    held = np.zeros((tags, RANKS), np.int64)
    seen = np.zeros(tags, np.int64)
    for sequence in range(len(starts) - 1):
        for at in range(starts[sequence], starts[sequence + 1]):
            if seen[codes[at]] < RANKS:
                held[codes[at], seen[codes[at]]] += 1
            seen[codes[at]] += 1
        for at in range(starts[sequence], starts[sequence + 1]):
            seen[codes[at]] = 0
    return held


def informative(held: NDArray[np.int64], sequences: int, bits: int = 128) -> NDArray[np.int64]:
    """The bit of each feature: the nearer to half of the sequences have it, the earlier; the last bit is of many."""
    order = np.argsort(-(held * (sequences - held)).ravel(), kind="stable")
    numbered = np.empty(held.size, np.int64)
    numbered[order] = np.minimum(np.arange(held.size), bits - 1)
    bit_of = numbered.reshape(held.shape)
    bit_of[0] = -1  # a tag that the index has not lacks everywhere, so that it would tell nothing
    return bit_of


@compiled
def similar_first(bits: Bits, order: NDArray[np.int64]) -> None:
    """Reorder sequences of one length, in place, so that neighbours share features.

    Halves them by the feature that is nearest to half of them, and each part again, until it is a block.
    """
    waiting = np.empty((128, 2), np.int64)
    waiting[0, 0], waiting[0, 1], depth = 0, len(order), 1
    held = np.empty(128, np.int64)
    while depth:
        depth -= 1
        first, last = waiting[depth, 0], waiting[depth, 1]
        count = last - first
        if count <= BLOCK:
            continue
        held[:] = 0
        for place in range(first, last):
            for half in range(2):
                word = bits[half, order[place]]
                for bit in range(64):
                    held[half * 64 + bit] += np.int64((word >> np.uint64(bit)) & np.uint64(1))
        best = int(np.argmin(np.abs(2 * held - count)))
        if held[best] == 0 or held[best] == count:
            continue
        half, shift, low, high = best >> 6, np.uint64(best & 63), first, last - 1
        while low <= high:
            if (bits[half, order[low]] >> shift) & np.uint64(1):
                order[low], order[high] = order[high], order[low]
                high -= 1
            else:
                low += 1
        # The smaller part waits on top, so that at most log2 of all parts wait.
        if low - first < last - low:
            waiting[depth, 0], waiting[depth, 1] = low, last
            waiting[depth + 1, 0], waiting[depth + 1, 1] = first, low
        else:
            waiting[depth, 0], waiting[depth, 1] = first, low
            waiting[depth + 1, 0], waiting[depth + 1, 1] = low, last
        depth += 2


@compiled
def summarized(bits: Bits, starts: NDArray[np.int64]) -> tuple[Bits, Bits]:
    """The features that all, and that some, of the sequences of each block have."""
    every = np.empty((2, len(starts) - 1), np.uint64)
    some = np.empty((2, len(starts) - 1), np.uint64)
    for half in range(2):
        for block in range(len(starts) - 1):
            all_, any_ = bits[half, starts[block]], bits[half, starts[block]]
            for sequence in range(starts[block] + 1, starts[block + 1]):
                all_ &= bits[half, sequence]
                any_ |= bits[half, sequence]
            every[half, block], some[half, block] = all_, any_
    return every, some


@compiled
def ones(word: np.uint64) -> int:
    """How many bits are set; LLVM knows the pattern and takes the processor's own instruction."""
    count = 0
    while word:
        word &= word - np.uint64(1)
        count += 1
    return count


@compiled
def least_edits(
    low: np.uint64, high: np.uint64, some: Bits, every: Bits, first: int, last: int, edits: NDArray[np.int64]
) -> None:
    """How many edits at least lie between the query and each of some sequences, or of some blocks.

    Each feature of the query that nothing there has needs one, and so does each that all there have and the query not;
    an edit mends one of either kind.

    Args:
        low, high: the query's features.
        some, every: features of blocks; for sequences, the same array twice.
        edits: filled for `first` to `last`, from its own beginning.
    """
    for at in range(last - first):  # without a branch, so that it becomes vector instructions
        lacking = ones(low & ~some[0, first + at]) + ones(high & ~some[1, first + at])
        beyond = ones(every[0, first + at] & ~low) + ones(every[1, first + at] & ~high)
        edits[at] = max(lacking, beyond)
