"""An encoder, or a causal language model, that reads two texts at once, and what is told of both by one state.

Shape key: B rows, T pieces of the longest, D features.
"""

from __future__ import annotations

from typing import Any, cast, final

import torch
from torch import Tensor, nn

from paraform.encoders import product_autocast
from paraform.models.judge.batches import JudgeBatch


@final
class JudgeNetwork(nn.Module):
    """Logits of "the first says all of the second", and the other way round.

    Args:
        module: transformers'.
        head: a state to two logits.
        causal: whether the state is the last one; else the first.
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
        ends_B = batch.rows.lengths_B.to(words_BT.device) - 1 if self.causal else torch.zeros_like(batch.seconds_B)
        rows_B = torch.arange(len(words_BT), device=words_BT.device)
        logits_B2: Tensor = self.head(states_BTD[rows_B, ends_B].float())
        return logits_B2
