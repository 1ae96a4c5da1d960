"""The best binary tree over every sentence's spans: CKY, compiled (Kasami 1965; Stern, Andreas & Klein 2017, eq. 1).

Shape key: B sentences of T words, F = T + 1 fenceposts between them, P = T F / 2 spans in the order of `span_ends`.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from paraform.syntax.compiled import compiled


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
    chosen: NDArray[np.int64] = _best_trees(np.ascontiguousarray(scores_BP, np.float32), words)
    return chosen


_place = compiled(span_place)


@compiled
def _best_trees(scores_BP: NDArray[np.float32], words: int) -> NDArray[np.int64]:
    chosen = np.empty((len(scores_BP), 2 * words - 1), np.int64)
    # Row i of `total` runs over ends, row j of `mirrored` over starts: both halves of a split lie end to end.
    total = np.zeros((words + 1, words + 1), np.float32)
    mirrored = np.zeros((words + 1, words + 1), np.float32)
    splits = np.zeros((words + 1, words + 1), np.int64)
    waiting = np.empty((words + 1, 2), np.int64)
    for row in range(len(scores_BP)):
        for length in range(1, words + 1):
            for start in range(words - length + 1):
                end = start + length
                best = np.float32(0.0)
                if length > 1:
                    best, split = total[start, start + 1] + mirrored[end, start + 1], start + 1
                    for middle in range(start + 2, end):
                        sum_ = total[start, middle] + mirrored[end, middle]
                        if sum_ > best:
                            best, split = sum_, middle
                    splits[start, end] = split
                best += scores_BP[row, _place(start, end, words)]
                total[start, end] = best
                mirrored[end, start] = best
        waiting[0, 0], waiting[0, 1], depth = 0, words, 1
        for number in range(2 * words - 1):
            depth -= 1
            start, end = waiting[depth, 0], waiting[depth, 1]
            chosen[row, number] = _place(start, end, words)
            if end - start > 1:
                split = splits[start, end]
                waiting[depth, 0], waiting[depth, 1] = split, end
                waiting[depth + 1, 0], waiting[depth + 1, 1] = start, split
                depth += 2
    return chosen
