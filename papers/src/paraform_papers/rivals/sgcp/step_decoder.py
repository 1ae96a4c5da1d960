"""SGCP's decoder one unit after another, as `decoding` wants it; it pops the leaves by itself.

Shape key: N sentences, S units of the longest source, V units that are known.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import final

import torch
from torch import Tensor

from paraform.batching import BOS, SentenceBatch
from paraform.models.copying import Scorer, source_columns
from paraform_papers.rivals.sgcp.forms import Forms
from paraform_papers.rivals.sgcp.network import NEVER, Memory, SgcpNetwork


@final
class StepDecoder:
    """A network in evaluation mode.

    Args:
        source_units: S.
        never: numbers that are never written.
    """

    def __init__(self, network: SgcpNetwork, source_units: int, never: Sequence[int] = NEVER) -> None:
        self.network = network
        self._score = Scorer(network.output, source_units, never)

    @torch.no_grad()
    def begin(self, source: SentenceBatch, forms: Forms) -> Memory:
        """The memory before the first unit; its `source_BS` holds columns of `step`'s scores (`source_columns`)."""
        memory = self.network.start(source, forms)
        return memory._replace(source_BS=source_columns(source.words_BT, self.network.vocabulary))

    @torch.no_grad()
    def step(self, memory: Memory, tokens_N: Tensor) -> tuple[Tensor, Memory]:
        """Scores [N, V + S] of the next unit, good until the next step, and the memory after it."""
        tokens_N = tokens_N.to(memory.source_BS.device)
        units_N1E = self.network.embed(tokens_N[:, None])
        popped_N = self.network.pops(memory.read_BD[:, None], units_N1E)[:, 0] > 0
        at_N = torch.minimum(memory.at_B + (popped_N & (tokens_N != BOS)), memory.last_B)
        leaf_N1D = memory.queue_BQD[torch.arange(len(at_N), device=at_N.device), at_N][:, None]
        read = self.network.decode(memory, leaf_N1D, units_N1E)
        memory = memory._replace(hidden_LBD=read.hidden_LBD, read_BD=read.read_BTD[:, 0], at_B=at_N)
        features_ND = self.network.features(read.read_BTD[:, 0])
        return self._score(features_ND, read.gate_BT[:, 0], read.copy_BTS[:, 0], memory.source_BS), memory
