"""A Transformer decoder layer that remembers keys and values, so that what has been written is not computed again.

The weights are those of an nn.TransformerDecoderLayer that normalises behind each part, as BERT and BART do; that one
remembers nothing between steps, so that its parts are called here one by one. In training its attention has no dropout.

Shape key: N rows, M states that are read, T tokens before, U further ones, D features; A heads, C = D / A of each.
"""

from __future__ import annotations

from typing import Any, NamedTuple, final

import torch
import torch.nn.functional as F
from torch import Tensor, nn


@final
class LayerMemory(NamedTuple):
    """Keys and values of what is read, [N, A, M, C], and of what has been written, [N, A, T, C]."""

    read_keys: Tensor
    read_values: Tensor
    keys: Tensor
    values: Tensor

    def select(self, rows_N: Tensor) -> LayerMemory:
        """The memory of the given rows."""
        return LayerMemory(*(part[rows_N] for part in self))


def begin_layer(layer: nn.TransformerDecoderLayer, read_NMD: Tensor) -> LayerMemory:
    """The memory before the first token: nothing is written, and states [N, M, D] can be read."""
    width = read_NMD.shape[2]
    attention = layer.multihead_attn
    bias = attention.in_proj_bias[width:]
    keys, values = _heads(F.linear(read_NMD, attention.in_proj_weight[width:], bias), attention, 2)
    return LayerMemory(keys, values, keys[:, :, :0], keys[:, :, :0])


def run_layer(
    layer: nn.TransformerDecoderLayer, hidden_NUD: Tensor, memory: LayerMemory, there_NM: Tensor
) -> tuple[Tensor, LayerMemory]:
    """Further tokens through the layer, each of which sees those before it and itself.

    Args:
        there_NM: which of the states that are read are some; at least one of each row.
    Returns: states [N, U, D], and the memory with these tokens.
    """
    width, count = hidden_NUD.shape[2], hidden_NUD.shape[1]
    own = layer.self_attn
    query, key, value = _heads(F.linear(hidden_NUD, own.in_proj_weight, own.in_proj_bias), own, 3)
    before = memory.keys.shape[2]
    if before:
        key, value = torch.cat([memory.keys, key], 2), torch.cat([memory.values, value], 2)
    memory = memory._replace(keys=key, values=value)
    past_UT = None
    if count > 1:
        past_UT = torch.ones(count, before + count, dtype=torch.bool, device=hidden_NUD.device).tril(before)
    found = F.scaled_dot_product_attention(query, key, value, attn_mask=past_UT)
    hidden_NUD = layer.norm1(hidden_NUD + layer.dropout1(_joined(own, found)))
    cross = layer.multihead_attn
    (query,) = _heads(F.linear(hidden_NUD, cross.in_proj_weight[:width], cross.in_proj_bias[:width]), cross, 1)
    there_N11M = there_NM[:, None, None]
    found = F.scaled_dot_product_attention(query, memory.read_keys, memory.read_values, attn_mask=there_N11M)
    hidden_NUD = layer.norm2(hidden_NUD + layer.dropout2(_joined(cross, found)))
    activation: Any = layer.activation
    wide = layer.dropout(activation(layer.linear1(hidden_NUD)))
    out_NUD: Tensor = layer.norm3(hidden_NUD + layer.dropout3(layer.linear2(wide)))
    return out_NUD, memory


def _heads(projected_NTE: Tensor, attention: nn.MultiheadAttention, parts: int) -> tuple[Tensor, ...]:
    """Queries, keys or values that lie side by side, [N, T, parts · D], as [N, A, T, C] each."""
    heads = attention.num_heads
    return tuple(part.view(*part.shape[:2], heads, -1).transpose(1, 2) for part in projected_NTE.chunk(parts, -1))


def _joined(attention: nn.MultiheadAttention, found_NATC: Tensor) -> Tensor:
    out_NTD: Tensor = attention.out_proj(found_NATC.transpose(1, 2).flatten(2))
    return out_NTD
