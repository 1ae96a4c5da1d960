"""BERT's forward pass in training without padding, by transformers' own layers: sentences lie end to end.

On a CPU a padded piece costs as much as one that is there, and each pass over a part of a batch adds a gradient of all
weights to the one before. Only attention sees where a sentence ends; `encoders.bert` does the same for inference.

Shape key: N pieces of all sentences, C sentences of one length, T their pieces, H heads, D features.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn


def can_run(module: nn.Module) -> bool:
    """Whether this forward pass is the module's."""
    config: Any = module.config
    return (
        config.model_type == "bert"
        and not (config.is_decoder or config.add_cross_attention)
        and not getattr(module, "gradient_checkpointing", False)
        and hasattr(module, "embeddings")
    )


def unpadded_states(module: nn.Module, pieces_N: Tensor, seen_N: Tensor, lengths: Sequence[int]) -> Tensor:
    """Last states [N, D].

    Args:
        module: transformers' BertModel.
        seen_N: bool, which pieces attention sees.
        lengths: of each sentence; those of one length stand together.
    """
    bert: Any = module
    positions_N = torch.cat([torch.arange(length) for length in lengths])
    hidden_1ND = bert.embeddings(input_ids=pieces_N[None], position_ids=positions_N[None])
    runs = [(length, len(list(run))) for length, run in groupby(lengths)]
    sizes = [length * count for length, count in runs]
    masks = [
        None if bool(seen.all()) else seen.view(count, 1, 1, length)
        for seen, (length, count) in zip(torch.split(seen_N, sizes), runs, strict=True)
    ]
    for layer in bert.encoder.layer:
        own = layer.attention.self
        share = own.dropout.p if module.training else 0.0
        found = []
        queries, keys, values = (torch.split(part(hidden_1ND)[0], sizes) for part in (own.query, own.key, own.value))
        for query, key, value, mask, (length, count) in zip(queries, keys, values, masks, runs, strict=True):
            query, key, value = (
                part.view(count, length, own.num_attention_heads, -1).transpose(1, 2) for part in (query, key, value)
            )
            out_CHTD = F.scaled_dot_product_attention(query, key, value, attn_mask=mask, dropout_p=share)
            found.append(out_CHTD.transpose(1, 2).reshape(count * length, -1))
        hidden_1ND = layer.attention.output(torch.cat(found)[None], hidden_1ND)
        hidden_1ND = layer.output(layer.intermediate(hidden_1ND), hidden_1ND)
    states_ND: Tensor = hidden_1ND[0]
    return states_ND
