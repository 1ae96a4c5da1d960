"""What is known of a pair, in two directions: whether the one says all of the other, and the other all of the one.

Shape key: B pairs.
"""

from __future__ import annotations

import torch
import torch.nn.functional as F
from torch import Tensor


def log_same(logits_B2: Tensor) -> Tensor:
    """ln p(same) [B]: that each says all of the other, ln σ(forth) + ln σ(back)."""
    return F.logsigmoid(logits_B2).sum(-1)


def log_other(logits_B2: Tensor) -> Tensor:
    """ln (1 − p(same)) [B]: 1 − p = (e^−x + e^−y + e^−(x+y)) p, whose gradient lasts however sure the logits are."""
    return torch.cat([-logits_B2, -logits_B2.sum(-1, keepdim=True)], -1).logsumexp(-1) + log_same(logits_B2)


def both_ways_nll(logits_B2: Tensor, known_B3: Tensor) -> Tensor:
    """−ln p of what is known of pairs, where p(same) = σ(forth) σ(back).

    Of each direction that is known, t being how sure it is, and likewise of whether both say the same, where that is
    all that is known, with p(same) in the place of σ(x):

        −t ln σ(x) − (1 − t) ln σ(−x)

    Where one direction x is known and the other, y, is not, "the same" says of y what it says if x is true: its term is
    that of y, times t.

    Args:
        logits_B2: of "the first says all of the second", and the other way round.
        known_B3: how sure these two are, and that both are: 0 to 1; NaN where it is not known.
    Returns: scalar, nats a pair.
    Raises: ValueError if the shapes are others.
    """
    if logits_B2.ndim != 2 or logits_B2.shape[1] != 2 or known_B3.shape != (len(logits_B2), 3):
        raise ValueError(f"logits {list(logits_B2.shape)}, known {list(known_B3.shape)}; expected [B, 2] and [B, 3]")
    there_B3, told_B3 = ~known_B3.isnan(), known_B3.nan_to_num()
    ways_B2, same_B1 = told_B3[:, :2], told_B3[:, 2:]
    # A direction that is not known is told by the label as far as the other one is sure.
    by_label_B2 = ~there_B3[:, :2] & there_B3[:, :2].flip(1) & there_B3[:, 2:]
    targets_B2 = torch.where(by_label_B2, same_B1, ways_B2)
    weights_B2 = torch.where(by_label_B2, ways_B2.flip(1), there_B3[:, :2].to(logits_B2))
    nats_B2 = F.binary_cross_entropy_with_logits(logits_B2, targets_B2, reduction="none") * weights_B2
    alone_B = there_B3[:, 2] & ~there_B3[:, :2].any(1)
    nats_B = -same_B1[:, 0] * log_same(logits_B2) - (1 - same_B1[:, 0]) * log_other(logits_B2)
    return (nats_B2.sum() + nats_B.where(alone_B, 0.0).sum()) / len(logits_B2)
