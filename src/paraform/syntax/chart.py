"""The best binary tree over every sentence's spans: CKY (Kasami 1965; Stern, Andreas & Klein 2017, eq. 1).

Shape key: B sentences of T words, F = T + 1 fenceposts between them, P = T F / 2 spans in the order of `span_ends`.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray


def span_ends(words: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The fenceposts where each of the P spans of so many words starts and ends: (0, 1), (0, 2) …, (1, 2) …"""
    starts, ends = np.triu_indices(words + 1, k=1)
    return starts.astype(np.int64), ends.astype(np.int64)


def span_place(start: int, end: int, words: int) -> int:
    """Which of the P spans of so many words this one is."""
    return start * words - start * (start - 1) // 2 + end - start - 1


def best_trees(scores_BP: NDArray[np.float32], words: int) -> NDArray[np.int64]:
    """The spans of each sentence's binary tree with the greatest sum of scores.

    Args:
        scores_BP: the score of every span's best label; that of no label is 0 in Stern et al.
        words: T ≥ 1.
    Returns: [B, 2T − 1], places among the P spans, the upper and the left first; of equal trees the one that splits
        further left.
    Raises: ValueError if P is not that of T words, or a score is not finite.
    """
    if words < 1 or scores_BP.ndim != 2 or scores_BP.shape[1] != words * (words + 1) // 2:
        raise ValueError(f"scores {scores_BP.shape} for {words} words; expected [B, {words * (words + 1) // 2}]")
    if not np.isfinite(scores_BP).all():
        raise ValueError("a span's score is not finite; are the head's weights damaged?")
    splits_BFF = _best_splits(scores_BP, words).tolist()
    return np.array([_spans_of(splits_FF) for splits_FF in splits_BFF], np.int64).reshape(-1, 2 * words - 1)


def _best_splits(scores_BP: NDArray[np.float32], words: int) -> NDArray[np.int64]:
    """How many words the left half of each span has: [B, start, length].

    All spans of a length are split at once. Their sums are kept by start and length, and by end and T − length, so that
    the left halves of a span's splits lie in a row, and its right halves too.
    """
    starts, ends = span_ends(words)
    left_BFF = np.zeros((len(scores_BP), words + 1, words + 1), np.float32)
    left_BFF[:, starts, ends - starts] = scores_BP
    right_BFF = np.zeros_like(left_BFF)
    right_BFF[:, 1:, words - 1] = left_BFF[:, :-1, 1]
    splits_BFF = np.zeros(left_BFF.shape, np.int64)
    for length in range(2, words + 1):
        count = words - length + 1  # of the spans, S; K = length − 1 splits
        sums_BSK = left_BFF[:, :count, 1:length] + right_BFF[:, length:, count:words]
        splits_BFF[:, :count, length] = sums_BSK.argmax(-1) + 1  # of equal ones the first
        left_BFF[:, :count, length] += sums_BSK.max(-1)
        right_BFF[:, length:, words - length] = left_BFF[:, :count, length]
    return splits_BFF


def _spans_of(splits_FF: list[list[int]]) -> list[int]:
    words = len(splits_FF) - 1
    chosen, waiting = [], [(0, words)]
    while waiting:
        start, length = waiting.pop()
        chosen.append(span_place(start, start + length, words))
        if length > 1:
            left = splits_FF[start][length]
            waiting += (start + left, length - left), (start, left)
    return chosen
