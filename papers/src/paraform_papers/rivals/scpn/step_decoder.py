"""SCPN's decoders one unit after another, as `decoding` wants it.

Shape key: N sentences, S units of the longest source, V units that are known.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import final

import torch
from torch import Tensor

from paraform.batching import SentenceBatch
from paraform.models.copying import Scorer, source_columns
from paraform_papers.rivals.scpn.network import Guided, Memory


@final
class StepDecoder:
    """A network in evaluation mode.

    Args:
        source_units: S.
        never: numbers that are never written.
    """

    def __init__(self, network: Guided, source_units: int, never: Sequence[int]) -> None:
        self.network = network
        self._score = Scorer(network.output, source_units, never)

    @torch.no_grad()
    def begin(self, source: SentenceBatch, form: SentenceBatch, source_form: SentenceBatch | None = None) -> Memory:
        """The memory before the first unit; its `source_BS` holds columns of `step`'s scores (`source_columns`)."""
        memory = self.network.start(source, form, source_form)
        return memory._replace(source_BS=source_columns(source.words_BT, self.network.sizes.units))

    @torch.no_grad()
    def step(self, memory: Memory, tokens_N: Tensor) -> tuple[Tensor, Memory]:
        """Scores [N, V + S] of the next unit, good until the next step, and the memory after it."""
        tokens_N1 = tokens_N.to(memory.source_BS.device)[:, None]
        features_N1D, gate_N1, copy_N1S, memory = self.network.decode(memory, tokens_N1)
        return self._score(features_N1D[:, 0], gate_N1[:, 0], copy_N1S[:, 0], memory.source_BS), memory
