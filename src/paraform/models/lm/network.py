"""A causal language model of transformers' as tensors: likelihoods of targets, and targets one piece after another.

Shape key: B rows, T pieces of the longest, N pieces of all targets end to end, V pieces of the vocabulary.
"""

from __future__ import annotations

from typing import Any, NamedTuple, final

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from paraform.batching import SentenceBatch
from paraform.encoders.causal import states_and_scores
from paraform.models.lm.batches import LMBatch


@final
class Memory(NamedTuple):
    """What decoding remembers of each row; picks rows of itself (`decoding.DecoderState`).

    Args:
        keys: transformers' cache, of which the padding behind a short prompt is masked.
        there_BT: which pieces are no padding, those written counted.
        read_B: how many they are.
    """

    keys: Any
    there_BT: Tensor
    read_B: Tensor

    def select(self, rows_N: Tensor) -> Memory:
        """The memory of the given rows, which the memory of before is not any more."""
        rows_N = rows_N.to(self.read_B.device)
        self.keys.reorder_cache(rows_N)
        return Memory(self.keys, self.there_BT[rows_N], self.read_B[rows_N])

    def cut(self, pieces_B: Tensor) -> Memory:
        """The memory of the first so many pieces of each row."""
        pieces_B = pieces_B.to(self.read_B.device)
        places_T = torch.arange(self.there_BT.shape[1], device=pieces_B.device)
        return Memory(self.keys, self.there_BT & (places_T < pieces_B[:, None]), pieces_B)


@final
class CausalNetwork(nn.Module):
    """The module, asked for what paraphrasing needs.

    Args:
        module: as `encoders.causal` makes it.
    Raises: InputError as `states_and_scores`.
    """

    def __init__(self, module: nn.Module) -> None:
        super().__init__()
        self.module = module
        states_and_scores(module)

    @property
    def _module(self) -> Any:
        return self.module

    def forward(self, batch: LMBatch) -> Tensor:
        """ln p of each piece of the targets, given all before it: [N] nats; the end is one of them.

        Only what a target's piece is scored by goes through the vocabulary. Padding is behind all, where nothing that
        counts looks.
        """
        words_BT, written_BT = batch.rows.words_BT, batch.written()
        states_BTD = self._module.base_model(input_ids=words_BT, use_cache=False).last_hidden_state
        before_BT = F.pad(written_BT[:, 1:], (0, 1))
        scores_NV = self._module.get_output_embeddings()(states_BTD[before_BT])
        return -F.cross_entropy(scores_NV.float(), words_BT[written_BT], reduction="none")

    @torch.no_grad()
    def follow(self, batch: LMBatch) -> tuple[Tensor, Memory]:
        """Log-probabilities of what may stand in the place of each piece of the targets, [N, V], and the memory of all.

        Of a row of the memory `cut` leaves the first pieces alone.
        """
        words_BT, written_BT = batch.rows.words_BT, batch.written()
        out = self._module.base_model(input_ids=words_BT, use_cache=True)
        before_BT = F.pad(written_BT[:, 1:], (0, 1))
        scores_NV = self._module.get_output_embeddings()(out.last_hidden_state[before_BT])
        there_BT = batch.rows.there()
        memory = Memory(out.past_key_values, there_BT, batch.rows.lengths_B.to(there_BT.device))
        return scores_NV.float().log_softmax(-1), memory

    @torch.no_grad()
    def begin(self, prompts: SentenceBatch) -> Memory:
        """The memory behind the prompts."""
        out = self._module.base_model(input_ids=prompts.words_BT, use_cache=True)
        there_BT = prompts.there()
        return Memory(out.past_key_values, there_BT, prompts.lengths_B.to(there_BT.device))

    @torch.no_grad()
    def step(self, memory: Memory, tokens_N: Tensor) -> tuple[Tensor, Memory]:
        """Scores [N, V] of the next piece, log-probabilities but for a constant of each row, and the memory after."""
        there_BT = F.pad(memory.there_BT, (0, 1), value=True)
        out = self._module(
            input_ids=tokens_N.to(there_BT.device)[:, None],
            attention_mask=None if bool(there_BT.all()) else there_BT.long(),
            position_ids=memory.read_B[:, None],
            past_key_values=memory.keys,
            use_cache=True,
        )
        return out.logits[:, -1].float(), Memory(out.past_key_values, there_BT, memory.read_B + 1)

    def ranked(self, memory: Memory, tokens_N: Tensor) -> tuple[Tensor, Memory]:
        """`step`, but log-probabilities, by which a beam compares."""
        scores_NV, memory = self.step(memory, tokens_N)
        return scores_NV.log_softmax(-1), memory
