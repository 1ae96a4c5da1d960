"""A causal language model of transformers' as tensors: likelihoods of targets, and targets one piece after another.

Shape key: B rows, T pieces of the longest, N pieces of all targets end to end, V pieces of the vocabulary.
"""

from __future__ import annotations

from typing import Any, NamedTuple, final

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from paraform.batching import SentenceBatch
from paraform.encoders import product_autocast
from paraform.encoders.causal import states_and_scores
from paraform.models.lm.batches import LMBatch
from paraform.models.lm.style import Soft, StyleNetwork

SCORED = 128  # pieces that the whole vocabulary is scored for at once


@final
class Memory(NamedTuple):
    """What decoding remembers of each row; picks rows of itself (`decoding.DecoderState`).

    Args:
        keys: transformers' cache.
        there_BT: which of its places hold a piece that counts; the others are padding, or were cut.
    """

    keys: Any
    there_BT: Tensor

    def select(self, rows_N: Tensor) -> Memory:
        """The memory of the given rows, which the memory of before is not any more."""
        rows_N = rows_N.to(self.there_BT.device)
        self.keys.reorder_cache(rows_N)
        return Memory(self.keys, self.there_BT[rows_N])

    def cut(self, places_B: Tensor) -> Memory:
        """The memory of what stands in the first so many places of each row."""
        places_T = torch.arange(self.there_BT.shape[1], device=self.there_BT.device)
        return Memory(self.keys, self.there_BT & (places_T < places_B.to(places_T.device)[:, None]))


class Scored(NamedTuple):
    """What a training step is made of.

    Args:
        log_probs_N: ln p of each piece of the targets, nats.
        contents: the pooled states of sources and of targets, twice [B, D]; None: not contrasted.
        styles: the style vectors of exemplars and of their targets, twice [R, S]; None: not contrasted.
    """

    log_probs_N: Tensor
    contents: tuple[Tensor, Tensor] | None = None
    styles: tuple[Tensor, Tensor] | None = None


@final
class CausalNetwork(nn.Module):
    """The module, asked for what paraphrasing needs.

    Args:
        module: as `encoders.causal` makes it.
        style: makes the soft pieces of a guide; None: no prompt has any.
    Raises: InputError as `states_and_scores`.
    """

    def __init__(self, module: nn.Module, style: StyleNetwork | None = None) -> None:
        super().__init__()
        self.module, self.style = module, style
        states_and_scores(module)

    @property
    def _module(self) -> Any:
        return self.module

    def forward(self, batch: LMBatch) -> Scored:
        """How likely each piece of the targets is, given all before it, the end among them; and what is contrasted.

        Only what a target's piece is scored by goes through the vocabulary. Padding is behind all, where nothing that
        counts looks.
        """
        words_BT, written_BT = batch.rows.words_BT, batch.written()
        styles, soft = None, None
        if batch.styles is not None and self.style is not None:
            rows_R = batch.styles.rows_R
            exemplars_RS = self.style(*batch.styles.exemplars)
            soft = Soft(self.style.soft(exemplars_RS), rows_R, batch.sources_B[rows_R] + 1)
            if batch.styles.targets is not None:
                styles = exemplars_RS, self.style(*batch.styles.targets)
        states_BTD = self._states(inputs_embeds=self._embedded(words_BT, soft))
        contents = None
        if batch.contents is not None:
            others = batch.contents
            others_BTD = self._states(input_ids=others.words_BT)
            ends = batch.sources_B, others.lengths_B.to(others_BTD.device)
            contents = (
                _pooled(states_BTD, batch.source_start, ends[0]),
                _pooled(others_BTD, batch.source_start, ends[1]),
            )
        before_BT = F.pad(written_BT[:, 1:], (0, 1))
        with product_autocast(states_BTD.device):
            scores_NV = self._scores(states_BTD[before_BT])
        log_probs_N = -F.cross_entropy(scores_NV, words_BT[written_BT], reduction="none")
        return Scored(log_probs_N, contents, styles)

    @torch.no_grad()
    def begin(self, prompts: SentenceBatch, soft: Soft | None = None) -> Memory:
        """The memory behind the prompts."""
        out = self._module.base_model(inputs_embeds=self._embedded(prompts.words_BT, soft), use_cache=True)
        return Memory(out.past_key_values, prompts.there())

    @torch.no_grad()
    def follow(self, memory: Memory, pieces: SentenceBatch) -> tuple[Tensor, Memory]:
        """Log-probabilities [N, V] of what may come behind each of the pieces, all rows' end to end; and the memory."""
        own_BT = pieces.there()
        states_BTD, memory = self._read(memory, pieces.words_BT, own_BT)
        return self._scores(states_BTD[own_BT]).log_softmax(-1), memory

    @torch.no_grad()
    def log_probs(self, memory: Memory, pieces: SentenceBatch, next_N: Tensor) -> Tensor:
        """ln p [N] of the piece that comes behind each of the pieces, all rows' end to end."""
        own_BT = pieces.there()
        states_BTD, _ = self._read(memory, pieces.words_BT, own_BT)
        parts = zip(torch.split(states_BTD[own_BT], SCORED), torch.split(next_N, SCORED), strict=True)
        return torch.cat([-F.cross_entropy(self._scores(states), some, reduction="none") for states, some in parts])

    @torch.no_grad()
    def step(self, memory: Memory, tokens_N: Tensor) -> tuple[Tensor, Memory]:
        """Scores [N, V] of the next piece, log-probabilities but for a constant of each row, and the memory after."""
        tokens_N1 = tokens_N.to(memory.there_BT.device)[:, None]
        states_N1D, memory = self._read(memory, tokens_N1, torch.ones_like(tokens_N1, dtype=torch.bool))
        return self._scores(states_N1D[:, 0]), memory

    def _read(self, memory: Memory, words_BT: Tensor, own_BT: Tensor) -> tuple[Tensor, Memory]:
        """States [B, T, D] of pieces behind what is remembered; those that are not the row's own do not count."""
        before_B1 = memory.there_BT.sum(1, keepdim=True)
        there_BT = torch.cat([memory.there_BT, own_BT], 1)
        out = self._module.base_model(
            input_ids=words_BT,
            attention_mask=None if bool(there_BT.all()) else there_BT.long(),
            position_ids=before_B1 + torch.arange(words_BT.shape[1], device=before_B1.device),
            past_key_values=memory.keys,
            use_cache=True,
        )
        return out.last_hidden_state, Memory(out.past_key_values, there_BT)

    def _states(self, **inputs: Tensor) -> Tensor:
        """States [B, T, D] of rows that nothing is remembered of; products as around (`product_dtype`)."""
        with product_autocast(next(iter(inputs.values())).device):
            states_BTD: Tensor = self._module.base_model(**inputs, use_cache=False).last_hidden_state
        return states_BTD

    def _embedded(self, words_BT: Tensor, soft: Soft | None) -> Tensor:
        embedded_BTD: Tensor = self._module.get_input_embeddings()(words_BT)
        return embedded_BTD if soft is None else soft.put_into(embedded_BTD)

    def _scores(self, states_ND: Tensor) -> Tensor:
        scores_NV: Tensor = self._module.get_output_embeddings()(states_ND)
        return scores_NV.float()

    def ranked(self, memory: Memory, tokens_N: Tensor) -> tuple[Tensor, Memory]:
        """`step`, but log-probabilities, by which a beam compares."""
        scores_NV, memory = self.step(memory, tokens_N)
        return scores_NV.log_softmax(-1), memory


def _pooled(states_BTD: Tensor, start: int, ends_B: Tensor) -> Tensor:
    """The mean of the states from one place on to each row's end."""
    places_T = torch.arange(states_BTD.shape[1], device=states_BTD.device)
    chosen_BT1 = ((places_T >= start) & (places_T < ends_B[:, None]))[:, :, None]
    return (states_BTD * chosen_BT1).sum(1) / chosen_BT1.sum(1).clamp_min(1)
