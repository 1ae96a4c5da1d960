"""An encoder, or a causal language model, that reads two texts at once, and what is told of both by its states.

Shape key: B rows, T pieces of the longest, N pieces of all, D features.
"""

from __future__ import annotations

from typing import Any, cast, final

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from paraform.encoders import product_autocast
from paraform.models.judge.batches import JudgeBatch


@final
class JudgeNetwork(nn.Module):
    """Logits of "the first says all of the second", and the other way round.

    Args:
        module: transformers'.
        head: what `told` has to two logits.
        causal: whether the last state has read both texts; else the first.
    """

    def __init__(self, module: nn.Module, head: nn.Linear, *, causal: bool) -> None:
        super().__init__()
        self.module, self.head, self.causal = module, head, causal

    def forward(self, batch: JudgeBatch) -> Tensor:
        """[B, 2]. Padding is behind all, where nothing that counts looks, or is masked."""
        words_BT, there_BT = batch.rows.words_BT, batch.rows.there()
        options: dict[str, Any] = {"use_cache": False} if self.causal else {"attention_mask": there_BT.long()}
        if getattr(cast(Any, self.module).config, "type_vocab_size", 0) > 1:
            places_T = torch.arange(words_BT.shape[1], device=words_BT.device)
            options["token_type_ids"] = (places_T >= batch.seconds_B[:, None]).long() * there_BT
        with product_autocast(words_BT.device):
            states_BTD: Tensor = self.module(input_ids=words_BT, **options).last_hidden_state
        lengths_B = batch.rows.lengths_B.to(words_BT.device)
        logits_B2: Tensor = self.head(told(states_BTD[there_BT], lengths_B, batch.seconds_B, causal=self.causal))
        return logits_B2


def parts(*, causal: bool) -> int:
    """How many vectors the head reads."""
    return 2 if causal else 5


def told(states_ND: Tensor, lengths_B: Tensor, seconds_B: Tensor, *, causal: bool) -> Tensor:
    """[B, 5·D] of rows that stand one behind another: y, z, x, |x − y| and x·y, each normalised over its features.

    x and y are the means of the first text's states and of the second's, marks included, and z is the state of the mark
    that has read both: the last one of a causal model, else the first. Of a causal model [B, 2·D], y and z alone: its
    second text has read the first, and a few of its features are so large that products of them swamp the rest.

    Args:
        lengths_B: pieces of each row.
        seconds_B: where in it the second text begins.
    """
    sizes_2B = torch.stack([seconds_B, lengths_B - seconds_B], 1).flatten()
    runs_N = torch.repeat_interleave(sizes_2B)
    sums = torch.zeros(len(sizes_2B), states_ND.shape[1], device=states_ND.device)
    means = sums.index_add(0, runs_N, states_ND.float()) / sizes_2B[:, None]
    ends_B = lengths_B.cumsum(0)
    read_BD = states_ND[ends_B - 1 if causal else ends_B - lengths_B].float()
    x, y, z = (F.layer_norm(one, one.shape[-1:]) for one in (means[::2], means[1::2], read_BD))
    return torch.cat([y, z] if causal else [y, z, x, (x - y).abs(), x * y], -1)
