"""What makes views of a sentence differ: dropout, whose mask costs little on a CPU, or words that are swapped.

Shape key: B sentences, T words of the longest.
"""

from __future__ import annotations

import torch
import torch.nn.functional as F
from torch import Tensor

from paraform.batching import SentenceBatch

SWAPPED = 0.1  # the chance that a word and the next change places, for a second view (clVAE, section 4.7)
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


def swapped(batch: SentenceBatch, chance: float) -> SentenceBatch:
    """From the first word on, each word and the next change places by chance (clVAE, section 4.7).

    A word that has changed places may do so again, with the next: a run of swaps carries its first word to its end.
    """
    words_BT, lengths_B = batch
    time = words_BT.shape[1]
    places_T = torch.arange(time, device=words_BT.device)
    swaps_BT = torch.rand(words_BT.shape, device=words_BT.device) < chance
    swaps_BT &= places_T < lengths_B.to(words_BT.device)[:, None] - 1
    carried_BT = torch.cat([torch.zeros_like(swaps_BT[:, :1]), swaps_BT[:, :-1]], 1)  # it holds what a swap brought
    run_starts_BT = places_T.where(~carried_BT, 0).cummax(1).values
    return SentenceBatch(words_BT.gather(1, (places_T + 1).where(swaps_BT, run_starts_BT)), lengths_B)
