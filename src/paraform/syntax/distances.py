"""Edit distances between one tag sequence and many, bit by bit and side by side (Myers 1999; Hyyrö 2003)."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from paraform.syntax.compiled import compiled
from paraform.syntax.features import Bits, Codes, Sequences, ones


@compiled
def edit_distances(
    query: Codes,
    places: Bits,
    sequences: Sequences,
    lanes: NDArray[np.int64],
    filled: int,
    state: Bits,
    distances: NDArray[np.int64],
) -> None:
    """The edit distance between the query and each of the sequences in the lanes, which have one length.

    Args:
        query: its tags.
        places: for each tag, a bit for every place where the query has it (queries of at most 64 tags).
        lanes: numbers of sequences, the first `filled` of which count.
        state: room for four rows of lanes.
        distances: filled.

    One column of all lanes after another. A column's lowest cell is its top (its number) plus its vertical steps up
    less those down, so that only the last column's steps are counted.
    """
    length = sequences.starts[lanes[0] + 1] - sequences.starts[lanes[0]]
    if len(query) > 64:
        for lane in range(filled):
            start = sequences.starts[lanes[lane]]
            distances[lane] = _plain_distance(query, sequences.codes[start : start + length])
        return
    codes, equal, up, down, first_code = sequences.codes, state[0], state[1], state[2], state[3]
    unit = np.uint64(1)
    for lane in range(filled):
        first_code[lane] = sequences.starts[lanes[lane]]  # without a sign, or each look-up would ask for it
        up[lane], down[lane] = ~np.uint64(0), np.uint64(0)
    for column in range(np.uint64(length)):
        for lane in range(filled):  # a loop of its own: the next one, without look-ups, becomes vector instructions
            equal[lane] = places[codes[first_code[lane] + column]]
        for lane in range(filled):
            diagonal = (((equal[lane] & up[lane]) + up[lane]) ^ up[lane]) | equal[lane] | down[lane]
            right_up = ((down[lane] | ~(diagonal | up[lane])) << unit) | unit
            right_down = (up[lane] & diagonal) << unit
            up[lane] = right_down | ~(diagonal | right_up)
            down[lane] = right_up & diagonal
    kept = ~np.uint64(0) >> np.uint64(64 - len(query)) if len(query) else np.uint64(0)
    for lane in range(filled):
        distances[lane] = length + ones(up[lane] & kept) - ones(down[lane] & kept)


@compiled
def _plain_distance(one: Codes, other: Codes) -> int:
    """Levenshtein's distance by its recurrence: for queries of more words than a machine word has bits."""
    row = np.arange(len(other) + 1)
    for i in range(len(one)):
        corner, row[0] = row[0], i + 1
        for j in range(len(other)):
            # A tag that the index has not (0) equals none.
            change = corner + (0 if one[i] == other[j] and one[i] else 1)
            corner = row[j + 1]
            row[j + 1] = min(change, row[j] + 1, corner + 1)
    return int(row[-1])
