"""What makes views of a sentence differ beside dropout: words that are swapped.

Shape key: B sentences, T words of the longest.
"""

from __future__ import annotations

import torch

from paraform.batching import SentenceBatch

SWAPPED = 0.1  # the chance that a word and the next change places, for a second view (clVAE, section 4.7)


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
