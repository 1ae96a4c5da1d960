"""The bounds on edits against the edits themselves, and the blocks against what they are made of."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from rapidfuzz.distance import Levenshtein

from paraform.syntax.features import (
    BLOCK,
    features,
    frequencies,
    informative,
    least_edits,
    ones,
    similar_first,
    summarized,
)

SEQUENCES = st.lists(st.lists(st.integers(1, 200), max_size=40), min_size=2, max_size=30)


def arrays(sequences: list[list[int]]) -> tuple[np.ndarray, np.ndarray]:
    starts = np.concatenate([[0], np.cumsum([len(sequence) for sequence in sequences])])
    return np.array([code for sequence in sequences for code in sequence], np.uint16), starts.astype(np.int64)


@given(st.integers(0, 2**64 - 1))
def test_ones(word: int) -> None:
    assert ones(np.uint64(word)) == word.bit_count()


@given(SEQUENCES)
def test_least_edits_are_never_more_than_the_edits(sequences: list[list[int]]) -> None:
    """200 tags, some many times over, in 128 bits: several share the last bit."""
    codes, starts = arrays(sequences)
    bits = features(codes, starts, informative(frequencies(codes, starts, 201), len(sequences)))
    every, some = summarized(bits, np.array([0, len(sequences)]))
    edits, of_block = np.empty(len(sequences), np.int64), np.empty(1, np.int64)
    for number, sequence in enumerate(sequences):
        least_edits(bits[0, number], bits[1, number], bits, bits, 0, len(sequences), edits)
        least_edits(bits[0, number], bits[1, number], some, every, 0, 1, of_block)
        for other, least in zip(sequences, edits, strict=True):
            assert of_block[0] <= least <= Levenshtein.distance(sequence, other)


def test_least_edits_worked_by_hand() -> None:
    """NN NN VB against NN DT: a second NN and a VB are too many, a DT is lacking, so two edits at least."""
    codes, starts = arrays([[1, 1, 2], [1, 3]])
    bits = features(codes, starts, informative(frequencies(codes, starts, 4), 2))
    edits = np.empty(2, np.int64)
    least_edits(bits[0, 0], bits[1, 0], bits, bits, 0, 2, edits)
    assert edits.tolist() == [0, 2]


def test_frequencies() -> None:
    held = frequencies(*arrays([[1, 1, 2], [1], [2, 2, 2]]), 3)
    assert held[:, :4].tolist() == [[0, 0, 0, 0], [2, 1, 0, 0], [2, 1, 1, 0]]


@given(st.integers(0, 1000), st.integers(1, 400))
def test_similar_first_is_a_permutation(seed: int, count: int) -> None:
    bits = np.random.default_rng(seed).integers(0, 2**63, (2, count)).astype(np.uint64)
    order = np.arange(count)
    similar_first(bits, order)
    assert sorted(order.tolist()) == list(range(count))


@given(st.integers(0, 1000), st.integers(1, 12))
def test_blocks_of_similar_first_share_all_where_they_can(seed: int, kinds: int) -> None:
    """A block's worth of sequences of each kind, in disorder: each half has whole kinds, so that each block has one."""
    draw = np.random.default_rng(seed)
    of_kinds = draw.integers(0, 2**63, (2, kinds)).astype(np.uint64)
    bits = np.ascontiguousarray(of_kinds[:, draw.permutation(np.repeat(np.arange(kinds), BLOCK))])
    order = np.arange(kinds * BLOCK)
    similar_first(bits, order)
    blocks = np.ascontiguousarray(bits[:, order])
    every, some = summarized(blocks, np.arange(0, len(order) + 1, BLOCK))
    assert np.array_equal(every, some) and np.array_equal(every, blocks[:, ::BLOCK])
    assert sorted(map(tuple, every.T.tolist())) == sorted(map(tuple, of_kinds.T.tolist()))
