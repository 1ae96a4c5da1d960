"""How well a bag of constituents is told from a vector: the adversary's loss (ParaBART, section 3)."""

from __future__ import annotations

from typing import Literal

import torch
import torch.nn.functional as F
from torch import Tensor


def bag_loss(logits: Tensor, bag: Tensor, *, kind: Literal["softmax", "sigmoid"] = "softmax") -> Tensor:
    """Cross-entropy of a bag of constituents under what a linear layer says of it (ParaBART, L_adv).

        softmax:  L = −(1 / B) Σ_b Σ_t h_b(t) ln softmax(l_b)_t                              (the paper)
        sigmoid:  L = −(1 / BC) Σ_b Σ_t h_b(t) ln σ(l_bt) + (1 − h_b(t)) ln(1 − σ(l_bt))     (the authors' code)

    Args:
        logits: [B, C] of C constituents.
        bag: [B, C] their shares h, each 0 to 1.
        kind: whose loss.
    Returns: scalar, nats a sentence (softmax), or nats a sentence and constituent (sigmoid).
    Raises: ValueError if the shapes differ.

    >>> share = torch.tensor([[0.5, 0.5, 0.0, 0.0]])
    >>> round(bag_loss(torch.zeros(1, 4), share).item(), 4)  # ln 4: the adversary knows nothing
    1.3863
    """
    if logits.shape != bag.shape or logits.ndim != 2:
        raise ValueError(f"logits {tuple(logits.shape)} and bag {tuple(bag.shape)}; expected twice [B, C]")
    if kind == "sigmoid":
        return F.binary_cross_entropy_with_logits(logits, bag)
    return -(bag * torch.log_softmax(logits, -1)).sum(-1).mean()
