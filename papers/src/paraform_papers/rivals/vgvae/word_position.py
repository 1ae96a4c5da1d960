"""Word position loss: a sentence's form tells where each of its words stands."""

from __future__ import annotations

import torch
import torch.nn.functional as F
from torch import Tensor


def word_position_nll(logits: Tensor, lengths: Tensor) -> Tensor:
    """−ln p(place of each word), the mean over a sentence's words (Chen et al. 2019, the word position loss).

        L = −(1 / T) Σ_t ln softmax(f([e(w_t); z]))_t

    Args:
        logits: [B, T, P] of P places, for each of the longest sentence's T words.
        lengths: [B] words of each sentence. A word beyond the last place is left out.
    Returns: [B] nats a word; 0 for a sentence without words.
    Raises: ValueError for other shapes.

    >>> word_position_nll(torch.zeros(1, 2, 4), torch.tensor([2]))  # ln 4
    tensor([1.3863])
    """
    if logits.ndim != 3 or lengths.shape != logits.shape[:1]:
        raise ValueError(f"{list(logits.shape)} logits, {list(lengths.shape)} lengths; expected [B, T, P] and [B]")
    _, words, places = logits.shape
    words = min(words, places)
    place_T = torch.arange(words, device=logits.device)
    nll_BT = F.cross_entropy(logits[:, :words].transpose(1, 2), place_T.expand(len(logits), -1), reduction="none")
    there_BT = place_T < lengths.to(logits.device)[:, None]
    return (nll_BT * there_BT).sum(1) / there_BT.sum(1).clamp_min(1)
