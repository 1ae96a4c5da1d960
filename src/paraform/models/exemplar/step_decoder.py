"""CRL-EGPG's decoder one word after another, as `decoding` wants it; what all steps share is made once.

Shape key: N sentences, S words of the longest source, V words of the vocabulary.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import final

import torch
import torch.nn.functional as F
from torch import Tensor

from paraform.batching import BOS, PAD, UNK
from paraform.models.exemplar.batches import StyleInput
from paraform.models.exemplar.encoded import Encoded
from paraform.models.exemplar.network import ExemplarNetwork, Memory
from paraform.models.exemplar.transformer import TransformerMemory


@final
class StepDecoder:
    """Decodes sources in the form of exemplars, a word of each at a time.

    Args:
        network: in evaluation mode; later changes of its weights may not be seen.
        source_words: S.
        dtype: the precision of all but the output layer; its scores decide between words and so are float32.
    """

    def __init__(self, network: ExemplarNetwork, source_words: int, dtype: torch.dtype = torch.float32) -> None:
        self.network = network if dtype == network.embedding.weight.dtype else network.cast(dtype)
        extra = source_words if network.config.copy else 0
        weight, bias = network.output.weight.detach().float(), network.output.bias.detach().float()
        # Columns that are never generated, or only copied, have weights of their own, so that no pass over [N, V] puts
        # −inf there.
        self._weight = torch.cat([weight, weight.new_zeros(extra, weight.shape[1])]) if extra else weight
        self._bias = torch.cat([bias, bias.new_full((extra,), float("-inf"))])
        self._bias[[PAD, UNK, BOS]] = float("-inf")
        # One buffer for all steps: memory from the system costs as much as the product.
        self._scores = weight.new_empty(0, 0)

    @torch.no_grad()
    def begin(
        self,
        source_BS: Tensor,
        lengths_B: Tensor,
        forms: StyleInput,
        form_B: Tensor,
        states_BSF: Tensor | None = None,
    ) -> Memory | TransformerMemory:
        """The memory before the first word; its `source_BS` holds columns of `step`'s output.

        A source word's column is its number or, where the vocabulary lacks it, V + where it first stands.

        Args:
            source_BS: word numbers, those beyond the vocabulary too.
            lengths_B: words of each source.
            forms: the different exemplars.
            form_B: the row in `forms` of each source's exemplar.
            states_BSF: as `ExemplarNetwork.encode_content` has them.
        """
        dtype = self.network.embedding.weight.dtype
        content = self.network.encode_content(
            source_BS, lengths_B, None if states_BSF is None else states_BSF.to(dtype)
        )
        # Each step multiplies by the states of every row; a packed GRU leaves the rows interleaved.
        content = content._replace(states=content.states.contiguous())
        if forms.values.is_floating_point():
            forms = forms._replace(values=forms.values.to(dtype))
        style = Encoded(*(part[form_B] for part in self.network.encode_style(forms)))
        first_BS = (source_BS[:, :, None] == source_BS[:, None, :]).int().argmax(-1)
        vocabulary = self.network.vocabulary
        columns_BS = source_BS.where(source_BS < vocabulary, vocabulary + first_BS)
        return self.network.start(content, style, columns_BS)

    @torch.no_grad()
    def step(self, memory: Memory | TransformerMemory, tokens_N: Tensor) -> tuple[Tensor, Memory | TransformerMemory]:
        """Log-probabilities [N, V + S] of the next word, good until the next step, and the memory after it.

        Column V + s is the s-th word of the source where the vocabulary lacks it; `<unk>` is never generated.
        """
        features, gate, copy, memory = self.network.decode(memory, tokens_N.to(memory.source_BS.device)[:, None])
        if len(self._scores) < len(tokens_N):
            self._scores = self._weight.new_empty(len(tokens_N), len(self._weight))
        log_probs_NV = self._scores[: len(tokens_N)]
        torch.mm(features[:, 0].to(self._weight.dtype), self._weight.t(), out=log_probs_NV)
        torch.log_softmax(log_probs_NV.add_(self._bias), -1, out=log_probs_NV)
        if gate is None or copy is None:
            return log_probs_NV, memory
        log_probs_NV += F.logsigmoid(-gate.float())
        # As probabilities, to which copies add; those of a word that stands twice in the source add up.
        probs_NS = log_probs_NV.gather(1, memory.source_BS).exp_()
        log_probs_NV.scatter_(1, memory.source_BS, probs_NS)
        log_probs_NV.scatter_add_(1, memory.source_BS, gate.float().sigmoid() * copy[:, 0].float().exp())
        mixed_NS = log_probs_NV.gather(1, memory.source_BS).clamp_min_(torch.finfo(torch.float32).tiny).log_()
        mixed_NS.masked_fill_(memory.source_BS <= BOS, float("-inf"))  # padding, or a source's own <unk>
        return log_probs_NV.scatter_(1, memory.source_BS, mixed_NS), memory


def decoding_batches(exemplar_lengths: Sequence[int], source_lengths: Sequence[int], size: int) -> list[list[int]]:
    """The rows of each batch, every row once, at most `size` a batch.

    A paraphrase is about as long as its exemplar: rows of like exemplars end together. Of about √(number of batches)
    batches of those, rows of like sources come together, the longer before the shorter, so that little is padding.
    """
    order = sorted(range(len(source_lengths)), key=lambda i: exemplar_lengths[i])
    some = size * max(1, round((len(order) / size) ** 0.5))
    for start in range(0, len(order), some):
        order[start : start + some] = sorted(order[start : start + some], key=lambda i: -source_lengths[i])
    return [order[start : start + size] for start in range(0, len(order), size)]
