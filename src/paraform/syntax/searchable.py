"""What the exemplar search needs of the encoded sentences: their different tag sequences, sorted into blocks.

Shape key: R sentences, S different tag sequences, M blocks of them.
"""

from __future__ import annotations

from typing import NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from paraform.syntax.compiled import read_only
from paraform.syntax.distances import Planes, planes_of
from paraform.syntax.features import (
    BLOCK,
    Blocks,
    Sequences,
    features,
    frequencies,
    informative,
    similar_first,
    summarized,
)
from paraform.syntax.rows import Encoded, Groups, same_sequences

Value = TypeVar("Value", bound=np.generic)


class Searchable(NamedTuple):
    """An index that can be searched.

    Args:
        bit_of: [tags + 1, ranks], the bit of each feature.
        blocks: M, of S sequences in order of length, those with similar tags side by side.
        planes: their tags.
        members: the rows that have each sequence, ascending.
        different: the first row of those with one sequence, text, wording and cluster.
    """

    bit_of: NDArray[np.int64]
    blocks: Blocks
    planes: Planes
    members: Groups
    different: Groups


def searchable(encoded: Encoded, tags: int) -> Searchable:
    """All that, from R sentences and the number of their tags."""
    groups = same_sequences(encoded.codes, encoded.starts)
    codes, starts = _gathered(encoded.codes, encoded.starts, groups.members[groups.starts[:-1]])
    bit_of = informative(frequencies(codes, starts, tags + 1), len(starts) - 1)
    bits = features(codes, starts, bit_of)
    order, block_starts, of_length = _blocks(np.diff(starts), bits)
    members = Groups(*_gathered(groups.members, groups.starts, order))
    blocks = Blocks(block_starts, *summarized(np.ascontiguousarray(bits[:, order]), block_starts), of_length)
    planes = planes_of(*_gathered(codes, starts, order), block_starts, tags.bit_length())
    return read_only(Searchable(bit_of, blocks, planes, members, _different(encoded, members)))


def similar_queries(encoded: Encoded, bit_of: NDArray[np.int64]) -> tuple[Groups, Sequences]:
    """Rows of each different tag sequence, and that sequence; those of one length that have similar tags in a row."""
    groups = same_sequences(encoded.codes, encoded.starts)
    codes, starts = _gathered(encoded.codes, encoded.starts, groups.members[groups.starts[:-1]])
    bits = features(codes, starts, bit_of)
    order = _blocks(np.diff(starts), bits)[0]
    sequences = Sequences(*_gathered(codes, starts, order), np.ascontiguousarray(bits[:, order]))
    return read_only((Groups(*_gathered(groups.members, groups.starts, order)), sequences))


def _blocks(lengths: NDArray[np.int64], bits: NDArray[np.uint64]) -> tuple[NDArray[np.int64], ...]:
    """The order of the sequences, the first of each block, and the first block of each length."""
    order = np.arange(len(lengths))
    longest = int(lengths.max(initial=0))
    first_of = np.searchsorted(lengths, np.arange(longest + 2))
    block_starts: list[int] = []
    of_length = np.zeros(longest + 2, np.int64)
    for length, (first, last) in enumerate(zip(first_of[:-1].tolist(), first_of[1:].tolist(), strict=True)):
        of_length[length] = len(block_starts)
        similar_first(bits, order[first:last])
        block_starts += range(first, last, BLOCK)
    of_length[-1] = len(block_starts)
    return order, np.array([*block_starts, len(lengths)], np.int64), of_length


def _different(encoded: Encoded, members: Groups) -> Groups:
    """So that a corpus of a million equal sentences has one candidate."""
    rows, counts = members.members, np.diff(members.starts)
    sequence = np.repeat(np.arange(len(counts)), counts)
    keys = (encoded.rows.texts[rows], encoded.rows.wordings[rows], encoded.rows.clusters[rows], sequence)
    order = np.lexsort((rows, *keys))
    first = np.ones(len(rows), np.bool_)
    for key in keys:
        first[1:] &= key[order[1:]] == key[order[:-1]]
    first[1:] = ~first[1:]
    kept = np.sort(order[first])
    starts = np.concatenate([[0], np.cumsum(np.bincount(sequence[kept], minlength=len(counts)))])
    return Groups(rows[kept], starts)


def _gathered(
    values: NDArray[Value], starts: NDArray[np.int64], rows: NDArray[np.int64]
) -> tuple[NDArray[Value], NDArray[np.int64]]:
    """Some of several runs of values, end to end, and where each begins."""
    lengths = starts[rows + 1] - starts[rows]
    new_starts = np.concatenate([[0], np.cumsum(lengths)])
    places = np.arange(new_starts[-1]) + np.repeat(starts[rows] - new_starts[:-1], lengths)
    return values[places], new_starts
