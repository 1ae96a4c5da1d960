"""ParaBART's decoder one piece after another, as `decoding` wants it.

Shape key: N sentences, M states that are read, T pieces so far, D features, V pieces that can be written; A heads.
"""

from __future__ import annotations

from typing import NamedTuple, final

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from paraform.models.disentangled.network import DisentangledNetwork
from paraform.models.disentangled.pairs import Trees


@final
class Memory(NamedTuple):
    """Keys and values of what is read [N, A, M, D / A], what of it is none [N, M], and those of the pieces so far."""

    keys_NAMC: Tensor
    values_NAMC: Tensor
    none_NM: Tensor
    keys_NATC: Tensor
    values_NATC: Tensor

    def select(self, rows_N: Tensor) -> Memory:
        """The memory of the given rows."""
        return Memory(*(part[rows_N] for part in self))


@final
class StepDecoder:
    """The decoder of a network in evaluation mode; nn.TransformerDecoderLayer remembers nothing between pieces.

    Args:
        never: columns that are not written.
    """

    def __init__(self, network: DisentangledNetwork, never: Tensor) -> None:
        self.network = network
        self.layer = network.decoder
        self.bias_V = torch.zeros(network.output.out_features, device=never.device)
        self.bias_V[never] = float("-inf")

    @torch.no_grad()
    def begin(self, vectors_ND: Tensor, trees: Trees | None) -> Memory:
        """The memory before the first piece."""
        read_NMD, none_NM = self.network.memory(vectors_ND, trees)
        _, keys, values = _projected(self.layer.multihead_attn, read_NMD)
        empty = keys[:, :, :0]
        return Memory(keys, values, none_NM, empty, empty)

    @torch.no_grad()
    def step(self, memory: Memory, tokens_N: Tensor) -> tuple[Tensor, Memory]:
        """Scores [N, V] of the next piece, and the memory with this one."""
        network, layer = self.network, self.layer
        tokens_N = tokens_N.to(memory.none_NM.device)
        place = memory.keys_NATC.shape[2]
        hidden_N1D = (network.target_embedding(tokens_N) + network.target_positions.weight[place])[:, None]
        hidden_N1D = network.target_norm(hidden_N1D)
        query, key, value = _projected(layer.self_attn, hidden_N1D)
        memory = memory._replace(
            keys_NATC=torch.cat([memory.keys_NATC, key], 2), values_NATC=torch.cat([memory.values_NATC, value], 2)
        )
        read = F.scaled_dot_product_attention(query, memory.keys_NATC, memory.values_NATC)
        hidden_N1D = layer.norm1(hidden_N1D + _joined(layer.self_attn, read))
        query, _, _ = _projected(layer.multihead_attn, hidden_N1D)
        there_N11M = ~memory.none_NM[:, None, None]
        read = F.scaled_dot_product_attention(query, memory.keys_NAMC, memory.values_NAMC, attn_mask=there_N11M)
        hidden_N1D = layer.norm2(hidden_N1D + _joined(layer.multihead_attn, read))
        hidden_N1D = layer.norm3(hidden_N1D + layer.linear2(F.gelu(layer.linear1(hidden_N1D))))
        scores_NV = torch.log_softmax(network.output(hidden_N1D[:, 0]).float() + self.bias_V, -1)
        return scores_NV, memory


def _projected(attention: nn.MultiheadAttention, states_NTD: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """Queries, keys and values, a head each: [N, A, T, D / A]."""
    parts = F.linear(states_NTD, attention.in_proj_weight, attention.in_proj_bias).chunk(3, -1)
    query, key, value = (part.view(*part.shape[:2], attention.num_heads, -1).transpose(1, 2) for part in parts)
    return query, key, value


def _joined(attention: nn.MultiheadAttention, read_NATC: Tensor) -> Tensor:
    out_NTD: Tensor = attention.out_proj(read_NATC.transpose(1, 2).flatten(2))
    return out_NTD
