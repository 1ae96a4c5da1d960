"""What is known of a pair, in two directions: whether the one says all of the other, and the other all of the one.

Shape key: B pairs.
"""

from __future__ import annotations

import torch
import torch.nn.functional as F
from torch import Tensor

LEAST = 1e-6  # a probability of not the same is taken for this if it is lower, so that its logarithm has a gradient


def log_same(logits_B2: Tensor) -> Tensor:
    """ln p(same) [B]: that each says all of the other, ln σ(forth) + ln σ(back)."""
    return F.logsigmoid(logits_B2).sum(-1)


def both_ways_nll(logits_B2: Tensor, known_B3: Tensor) -> Tensor:
    """−ln p of what is known of pairs, where p(same) = σ(forth) σ(back).

    Where both directions are known: the binary cross-entropy of each, t being how sure it is,

        −t ln σ(x) − (1 − t) ln σ(−x)

    else of what is known of one direction, and of whether the two say the same, −t ln p − (1 − t) ln(1 − p).

    Args:
        logits_B2: of "the first says all of the second", and the other way round.
        known_B3: how sure these two are, and that both are: 0 to 1; NaN where it is not known.
    Returns: scalar, nats a pair.
    Raises: ValueError if the shapes are others.
    """
    if logits_B2.ndim != 2 or logits_B2.shape[1] != 2 or known_B3.shape != (len(logits_B2), 3):
        raise ValueError(f"logits {list(logits_B2.shape)}, known {list(known_B3.shape)}; expected [B, 2] and [B, 3]")
    ways_B2, same_B = known_B3[:, :2], known_B3[:, 2]
    there_B2 = ~ways_B2.isnan()
    ways = F.binary_cross_entropy_with_logits(logits_B2, ways_B2.nan_to_num(), reduction="none")
    log_B = log_same(logits_B2)
    not_B = torch.log1p(-log_B.exp().clamp(max=1 - LEAST))
    told_B = same_B.nan_to_num()
    same = -told_B * log_B - (1 - told_B) * not_B
    counts_B = ~same_B.isnan() & ~there_B2.all(1)
    return (ways.where(there_B2, 0.0).sum() + same.where(counts_B, 0.0).sum()) / len(logits_B2)
