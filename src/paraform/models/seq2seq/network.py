"""A seq2seq model of transformers' as tensors: likelihoods of outputs, and outputs one piece after another.

Shape key: B pairs, S pieces of the longest input, T of the longest output, N of all outputs end to end, D features, V
pieces that can be written.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple, cast, final

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from paraform.batching import SentenceBatch
from paraform.encoders.transformers_modules import sizes_of
from paraform.models.seq2seq.batches import PairBatch
from paraform.records import InputError


@final
class Memory(NamedTuple):
    """What decoding remembers of each row; picks rows of itself (`decoding.DecoderState`).

    Keys and values are picked in place: what was before a step or a pick is gone, and decoding asks for it no more.

    Args:
        keys: transformers' EncoderDecoderCache; None before the first step.
        states_BSD, there_BS: of the inputs, and which of them are no padding.
        source_B: which input each row reads.
    """

    keys: Any
    states_BSD: Tensor
    there_BS: Tensor
    source_B: Tensor

    def select(self, rows_N: Tensor) -> Memory:
        """The memory of the given rows."""
        rows_N = rows_N.to(self.states_BSD.device)
        source_N = self.source_B[rows_N]
        if self.keys is not None and torch.equal(source_N, self.source_B):
            # A beam's hypotheses, which change places within their sentence: what they read is where it was.
            self.keys.self_attention_cache.reorder_cache(rows_N)
            return self
        if self.keys is not None:
            self.keys.reorder_cache(rows_N)
        return Memory(self.keys, self.states_BSD[rows_N], self.there_BS[rows_N], source_N)


@final
class Seq2SeqNetwork(nn.Module):
    """The module, asked in one way whatever its architecture.

    Args:
        module: as `encoders.seq2seq` makes it.
    Raises: InputError if it does not say what an output begins with.
    """

    def __init__(self, module: nn.Module) -> None:
        super().__init__()
        self.module = module
        self.start = cast(Any, module).config.decoder_start_token_id
        if self.start is None:
            raise InputError("config.json: no decoder_start_token_id; expected the piece that an output begins with")

    @property
    def rows(self) -> int:
        """Pieces that are embedded, the separator, the last one, counted."""
        return len(self._module.get_input_embeddings().weight)

    @property
    def longest(self) -> tuple[int | None, int | None]:
        """The most pieces of an input, and of an output; None: any number."""
        config = self._module.config
        read = sizes_of(config).tokens
        return read, getattr(config, "max_decoder_position_embeddings", None) or read

    @property
    def _module(self) -> Any:
        return self.module

    def forward(self, batch: PairBatch) -> Tensor:
        """ln p of each piece of the outputs, given those before it and the input: [N] nats; the end is one of them."""
        gold_BT, there_BT = batch.target.words_BT, batch.target.there()
        read_BT = F.pad(gold_BT, (1, -1), value=self.start)
        scores_BTV = self._module(
            input_ids=batch.source.words_BT,
            attention_mask=batch.source.there().long(),
            decoder_input_ids=read_BT,
            use_cache=False,
        ).logits
        return -F.cross_entropy(scores_BTV[there_BT].float(), gold_BT[there_BT], reduction="none")

    @torch.no_grad()
    def begin(self, source: SentenceBatch) -> Memory:
        """The memory before the first piece."""
        there_BS = source.there().long()
        out = self._module.get_encoder()(input_ids=source.words_BT, attention_mask=there_BS)
        return Memory(None, out.last_hidden_state, there_BS, torch.arange(len(there_BS), device=there_BS.device))


@final
class StepDecoder:
    """A network in evaluation mode, one piece after another, as `decoding` wants it.

    Args:
        never: pieces that are not written.
        ranked: outputs are compared, as a beam's are; else scores do, log-probabilities but for a constant of each row.
    """

    def __init__(self, network: Seq2SeqNetwork, never: Sequence[int], *, ranked: bool = True) -> None:
        self.network = network
        self._never = torch.tensor(list(never), dtype=torch.long, device=next(network.parameters()).device)
        self._ranked = ranked

    @torch.no_grad()
    def step(self, memory: Memory, tokens_N: Tensor) -> tuple[Tensor, Memory]:
        """Log-probabilities [N, V] of the next piece, or scores, and the memory after it."""
        from transformers.modeling_outputs import BaseModelOutput

        out = self.network.module(
            encoder_outputs=BaseModelOutput(last_hidden_state=memory.states_BSD),
            attention_mask=memory.there_BS,
            decoder_input_ids=tokens_N.to(memory.states_BSD.device)[:, None],
            past_key_values=memory.keys,
            use_cache=True,
        )
        scores_NV = out.logits[:, -1].float().index_fill_(1, self._never, float("-inf"))
        return scores_NV.log_softmax(-1) if self._ranked else scores_NV, memory._replace(keys=out.past_key_values)
