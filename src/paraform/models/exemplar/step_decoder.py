"""CRL-EGPG's decoder one word after another, as `decoding` wants it; what all steps share is made once.

Shape key: N sentences, S words of the longest source, V words of the vocabulary.
"""

from __future__ import annotations

from typing import final

import torch
from torch import Tensor

from paraform.batching import BOS, PAD, UNK
from paraform.models.copying import Scorer, source_columns
from paraform.models.exemplar.batches import StyleInput
from paraform.models.exemplar.network import Encoded, ExemplarNetwork, Memory


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
        copied = source_words if network.config.copy else 0
        self._score = Scorer(network.output, copied, (PAD, UNK, BOS))

    @torch.no_grad()
    def begin(
        self,
        source_BS: Tensor,
        lengths_B: Tensor,
        forms: StyleInput,
        form_B: Tensor,
        states_BSF: Tensor | None = None,
    ) -> Memory:
        """The memory before the first word; its `source_BS` holds columns of `step`'s output (`source_columns`).

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
        return self.network.start(content, style, source_columns(source_BS, self.network.vocabulary))

    @torch.no_grad()
    def step(self, memory: Memory, tokens_N: Tensor) -> tuple[Tensor, Memory]:
        """Log-probabilities [N, V + S] of the next word, good until the next step, and the memory after it.

        Column V + s is the s-th word of the source where the vocabulary lacks it; `<unk>` is never generated.
        """
        features, gate, copy, memory = self.network.decode(memory, tokens_N.to(memory.source_BS.device)[:, None])
        gate_N, copy_NS = None if gate is None else gate[:, 0], None if copy is None else copy[:, 0]
        return self._score(features[:, 0], gate_N, copy_NS, memory.source_BS), memory
