"""Negative log-likelihood of the label of every span of a sentence, "no constituent" among the labels."""

from __future__ import annotations

import torch.nn.functional as F
from torch import Tensor


def span_label_nll(scores: Tensor, labels: Tensor, words: int) -> Tensor:
    """Sum over all spans of −log softmax of the gold label's score, per word.

    Spans are labelled each by itself, as in Gaddy, Stern & Klein 2018 (their independent model); that the labels make
    a tree is seen to when they are decoded.

    Args:
        scores: [B, P, C], logits of the C labels of every span.
        labels: [B, P] int64, which one it has.
        words: the words of all B sentences, counted; ≥ 1. Per span, a constituent of a long sentence would count less.
    Returns: scalar, nats per word.
    Raises: ValueError if the shapes do not fit or there is no word.
    """
    if scores.shape[:-1] != labels.shape or words < 1:
        raise ValueError(f"scores {tuple(scores.shape)} and labels {tuple(labels.shape)} of {words} words")
    return F.cross_entropy(scores.flatten(0, -2), labels.flatten(), reduction="sum") / words
