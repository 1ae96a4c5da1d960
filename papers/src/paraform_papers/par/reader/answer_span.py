"""Negative log-likelihood of where an answer begins and ends."""

from __future__ import annotations

import torch.nn.functional as F
from torch import Tensor


def answer_span_nll(start_log_probs: Tensor, end_log_probs: Tensor, starts: Tensor, ends: Tensor) -> Tensor:
    """−ln p(start) − ln p(end), each by itself, the mean over questions (Seo et al. 2017, section 2, "Training").

    Args:
        start_log_probs, end_log_probs: [B, T], log-probabilities over the words of each context; −inf where padded.
        starts, ends: [B] int64, the answer's first and last word.
    Returns: scalar, nats a question.
    Raises: ValueError if the shapes differ.

    >>> import torch
    >>> even = torch.full((1, 4), 0.25).log()
    >>> round(answer_span_nll(even, even, torch.tensor([1]), torch.tensor([2])).item(), 4)  # 2 ln 4
    2.7726
    """
    if start_log_probs.shape != end_log_probs.shape or starts.shape != ends.shape or starts.ndim != 1:
        shapes = [tuple(part.shape) for part in (start_log_probs, end_log_probs, starts, ends)]
        raise ValueError(f"shapes {shapes}; expected [B, T] twice and [B] twice")
    return F.nll_loss(start_log_probs, starts) + F.nll_loss(end_log_probs, ends)
