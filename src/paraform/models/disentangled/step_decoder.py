"""ParaBART's decoder one piece after another, as `decoding` wants it.

Shape key: N sentences, M states that are read, V pieces that can be written.
"""

from __future__ import annotations

from typing import NamedTuple, final

import torch
from torch import Tensor

from paraform.models.decoder_layer import LayerMemory, begin_layer, run_layer
from paraform.models.disentangled.network import DisentangledNetwork
from paraform.models.disentangled.pairs import Trees


@final
class Memory(NamedTuple):
    """What the layer remembers of each sentence, and which of the states that it reads are some: [N, M]."""

    layer: LayerMemory
    there_NM: Tensor

    def select(self, rows_N: Tensor) -> Memory:
        """The memory of the given rows."""
        return Memory(self.layer.select(rows_N), self.there_NM[rows_N])


@final
class StepDecoder:
    """The decoder of a network in evaluation mode.

    Args:
        never: columns that are not written.
    """

    def __init__(self, network: DisentangledNetwork, never: Tensor) -> None:
        self.network = network
        self.bias_V = torch.zeros(network.output.out_features, device=never.device)
        self.bias_V[never] = float("-inf")

    @torch.no_grad()
    def begin(self, vectors_ND: Tensor, trees: Trees | None) -> Memory:
        """The memory before the first piece."""
        read_NMD, none_NM = self.network.memory(vectors_ND, trees)
        return Memory(begin_layer(self.network.decoder, read_NMD), ~none_NM)

    @torch.no_grad()
    def step(self, memory: Memory, tokens_N: Tensor) -> tuple[Tensor, Memory]:
        """Scores [N, V] of the next piece, and the memory with this one."""
        network = self.network
        tokens_N = tokens_N.to(memory.there_NM.device)
        place = memory.layer.keys.shape[2]
        hidden_N1D = (network.target_embedding(tokens_N) + network.target_positions.weight[place])[:, None]
        hidden_N1D, layer = run_layer(network.decoder, network.target_norm(hidden_N1D), memory.layer, memory.there_NM)
        scores_NV = torch.log_softmax(network.output(hidden_N1D[:, 0]).float() + self.bias_V, -1)
        return scores_NV, memory._replace(layer=layer)
