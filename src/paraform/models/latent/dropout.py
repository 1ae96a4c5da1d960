"""Dropout whose mask costs little on a CPU."""

from __future__ import annotations

import torch
import torch.nn.functional as F
from torch import Tensor

LEVELS = 1 << 16  # random numbers of 16 bits, four of which come from one draw


def dropout(values: Tensor, share: float, training: bool) -> Tensor:
    """Zero about that share of the values, and scale the others so that the mean stays (Srivastava et al. 2014).

    On a CPU torch draws a mask one number after another; here four come from each draw of torch's generator, so that
    the share is a multiple of 1/65,536.
    """
    if not training or share in (0, 1) or values.device.type != "cpu":
        return F.dropout(values, share, training)
    cut = min(round(share * LEVELS), LEVELS - 1)
    random = torch.empty((values.numel() + 3) // 4, dtype=torch.int64).random_(-(1 << 63), None).view(torch.int16)
    kept = (random[: values.numel()] >= cut - LEVELS // 2).to(values.dtype)
    return values * kept.mul_(LEVELS / (LEVELS - cut)).view(values.shape)
