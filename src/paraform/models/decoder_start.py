"""What Transformer decoder layers start from: a pretrained model's, by the names of nn.TransformerDecoderLayer.

Rothe et al. 2020, "Leveraging Pre-trained Checkpoints for Sequence Generation Tasks": self-attention, feed-forward part
and norms of an encoder; cross-attention is new.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, cast

import torch
from torch import Tensor, nn

from paraform.encoders.transformers_modules import sizes_of

Weights = Mapping[str, Tensor]

BERT = {
    "attention.output.LayerNorm": "norm1",
    "output.LayerNorm": "norm3",
    "intermediate.dense": "linear1",
    "output.dense": "linear2",
    "attention.output.dense": "self_attn.out_proj",
}


def bert_layer(weights: Weights, number: int) -> dict[str, Tensor]:
    """Of a BERT's weights those of a layer; {} of another architecture's."""
    prefix = f"encoder.layer.{number}."
    return renamed(weights, prefix, BERT) | projections(
        weights, "self_attn", [f"{prefix}attention.self.{name}" for name in ("query", "key", "value")]
    )


def bert_embeddings(module: nn.Module) -> dict[str, Tensor]:
    """Of a BERT `words`, `positions` with the type of a lone sentence, and `embedding_norm`; {} of another one.

    Rows of positions that no text has, as RoBERTa's first two, are left out.
    """
    weights, config = dict(module.state_dict()), cast(Any, module).config
    found = named(weights, "words", "embeddings.word_embeddings.weight")
    for part in ("weight", "bias"):
        found |= named(weights, f"embedding_norm.{part}", f"embeddings.LayerNorm.{part}")
    if {"embeddings.position_embeddings.weight", "embeddings.token_type_embeddings.weight"} <= weights.keys():
        positions = weights["embeddings.position_embeddings.weight"]
        skipped = len(positions) - (sizes_of(config).tokens or len(positions))
        found["positions"] = positions[skipped:] + weights["embeddings.token_type_embeddings.weight"][0]
    return found


def renamed(weights: Weights, prefix: str, names: Mapping[str, str]) -> dict[str, Tensor]:
    """Weights and biases of the parts whose names begin so, by the names that ours have."""
    return {
        f"{own}.{part}": weights[f"{prefix}{theirs}.{part}"]
        for theirs, own in names.items()
        for part in ("weight", "bias")
        if f"{prefix}{theirs}.{part}" in weights
    }


def projections(weights: Weights, own: str, names: list[str]) -> dict[str, Tensor]:
    """Those of query, key and value as the one of nn.MultiheadAttention; {} if one is lacking."""
    if not all(f"{name}.{part}" in weights for name in names for part in ("weight", "bias")):
        return {}
    return {
        f"{own}.in_proj_{part}": torch.cat([weights[f"{name}.{part}"] for name in names]) for part in ("weight", "bias")
    }


def named(weights: Weights, own: str, theirs: str) -> dict[str, Tensor]:
    """One tensor by our name; {} if it is lacking."""
    return {own: weights[theirs]} if theirs in weights else {}
