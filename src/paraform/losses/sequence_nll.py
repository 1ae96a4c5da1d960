"""Negative log-likelihood of target sentences, with or without words copied from the source."""

from __future__ import annotations

from typing import Literal

import torch
import torch.nn.functional as F
from torch import Tensor


def sequence_nll(log_probs: Tensor, lengths: Tensor, *, reduction: Literal["mean", "sum"] = "mean") -> Tensor:
    """Mean over each target's tokens (CRL-EGPG, eq. 5), then over or summed over the batch.

        L = Σ_i −(1 / |Y_i|) Σ_t log p(y_it)

    Args:
        log_probs: [N] log-probabilities of the gold tokens of all targets, end to end, in nats.
        lengths: [B] tokens of each target; they add up to N.
        reduction: over the batch: "sum" (eq. 12) or "mean" (the authors' code).
    Returns: scalar, nats per token (mean) or that summed over the batch.
    Raises: ValueError if the lengths do not add up to N or one is 0.
    """
    if log_probs.ndim != 1 or int(lengths.sum()) != log_probs.shape[0] or bool((lengths < 1).any()):
        raise ValueError(
            f"{tuple(log_probs.shape)} log-probabilities for lengths that sum to {int(lengths.sum())}; "
            "expected one a token and no empty target"
        )
    weight_N = torch.repeat_interleave(1.0 / lengths.to(log_probs.dtype), lengths)
    total = -(weight_N * log_probs).sum()
    return total / lengths.shape[0] if reduction == "mean" else total


def copy_log_probs(
    vocabulary_log_probs: Tensor, copy_logits: Tensor, copy_mass: Tensor, in_vocabulary: Tensor
) -> Tensor:
    """Log-probability of gold tokens under a mixture of the vocabulary and of copying (See et al. 2017, eq. 9).

        p(y) = (1 − σ(g)) · p_vocabulary(y) · [y in vocabulary] + σ(g) · Σ_{s: x_s = y} a_s

    Args:
        vocabulary_log_probs: [N] ln p_vocabulary of the gold tokens, by the softmax over the vocabulary.
        copy_logits: [N] g, the gate towards copying.
        copy_mass: [N] attention on source positions that hold the gold token, 0 to 1.
        in_vocabulary: [N] bool; False where the gold token can only be copied.
    Returns: [N] nats, at most 0.
    """
    generate = F.logsigmoid(-copy_logits) + vocabulary_log_probs
    generate = generate.masked_fill(~in_vocabulary, float("-inf"))
    tiny = torch.finfo(copy_mass.dtype).tiny  # ln 0 would give NaN gradients even where the mass is not used
    copied = F.logsigmoid(copy_logits) + copy_mass.clamp_min(tiny).log()
    return torch.logaddexp(generate, copied)
