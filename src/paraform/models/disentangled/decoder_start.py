"""What the decoder layer starts from: a model's own first one, or the encoder's first with new cross-attention.

Rothe et al. 2020, "Leveraging Pre-trained Checkpoints for Sequence Generation Tasks". A layer that is neither BERT's
nor BART's is left as it was drawn.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

from paraform.encoders.hugging_face import sizes_of
from paraform.models.disentangled.network import DisentangledNetwork

Weights = Mapping[str, Tensor]

BART = {
    "self_attn_layer_norm": "norm1",
    "encoder_attn_layer_norm": "norm2",
    "final_layer_norm": "norm3",
    "fc1": "linear1",
    "fc2": "linear2",
    "self_attn.out_proj": "self_attn.out_proj",
    "encoder_attn.out_proj": "multihead_attn.out_proj",
}
BERT = {
    "attention.output.LayerNorm": "norm1",
    "output.LayerNorm": "norm3",
    "intermediate.dense": "linear1",
    "output.dense": "linear2",
    "attention.output.dense": "self_attn.out_proj",
}


@torch.no_grad()
def start_decoder(network: DisentangledNetwork, decoder: nn.Module | None) -> None:
    """Copy embeddings and one layer into the decoder.

    Args:
        decoder: the decoder half of the model that the semantic encoder is from; None: it has none.
    """
    if not network.config.generation_weight:
        return
    whole: Any = network.semantic if decoder is None else decoder
    weights = dict(whole.state_dict())
    if decoder is None:
        rows = weights.get("embeddings.position_embeddings.weight", ())
        found = _bert(weights, len(rows) - (sizes_of(whole.config, Path()).tokens or len(rows)))  # RoBERTa: 2 fewer
    else:  # mBART's and Pegasus's layers have BART's names, and norms in other places
        found = _bart(weights) if whole.config.model_type == "bart" else {}
    own: dict[str, Tensor] = dict(network.decoder.state_dict())
    for name, tensor in found.items():
        if name in own and own[name].shape == tensor.shape:
            own[name].copy_(tensor)
    words = found.get("words")
    if words is not None and words.shape[1] == network.target_embedding.embedding_dim:
        network.target_embedding.weight.copy_(words[network.written_V.clamp_max(len(words) - 1)])
    positions = found.get("positions")
    if positions is not None and positions.shape[1] == network.target_positions.embedding_dim:
        rows = min(len(positions), network.target_positions.num_embeddings)
        network.target_positions.weight[:rows].copy_(positions[:rows])
    for part in ("weight", "bias"):
        norm = found.get(f"embedding_norm.{part}")
        if norm is not None and norm.shape == network.target_norm.weight.shape:
            getattr(network.target_norm, part).copy_(norm)


def _bart(weights: dict[str, Tensor]) -> dict[str, Tensor]:
    """By the names of `nn.TransformerDecoderLayer`, of a BART decoder's; its positions begin at row 2."""
    found = _renamed(weights, "layers.0.", BART)
    for own, theirs in (("self_attn", "layers.0.self_attn."), ("multihead_attn", "layers.0.encoder_attn.")):
        found |= _projections(weights, own, [f"{theirs}{name}_proj" for name in "qkv"])
    found |= _named(weights, "words", "embed_tokens.weight")
    for part in ("weight", "bias"):
        found |= _named(weights, f"embedding_norm.{part}", f"layernorm_embedding.{part}")
    if "embed_positions.weight" in weights:
        found["positions"] = weights["embed_positions.weight"][2:]
    return found


def _bert(weights: dict[str, Tensor], skipped: int) -> dict[str, Tensor]:
    """The same of a BERT's first layer; cross-attention is left out, and rows of positions that no text has."""
    found = _renamed(weights, "encoder.layer.0.", BERT)
    names = [f"encoder.layer.0.attention.self.{name}" for name in ("query", "key", "value")]
    found |= _projections(weights, "self_attn", names)
    found |= _named(weights, "words", "embeddings.word_embeddings.weight")
    for part in ("weight", "bias"):
        found |= _named(weights, f"embedding_norm.{part}", f"embeddings.LayerNorm.{part}")
    if {"embeddings.position_embeddings.weight", "embeddings.token_type_embeddings.weight"} <= weights.keys():
        kind = weights["embeddings.token_type_embeddings.weight"][0]
        found["positions"] = weights["embeddings.position_embeddings.weight"][skipped:] + kind
    return found


def _renamed(weights: Weights, prefix: str, names: Mapping[str, str]) -> dict[str, Tensor]:
    return {
        f"{own}.{part}": weights[f"{prefix}{theirs}.{part}"]
        for theirs, own in names.items()
        for part in ("weight", "bias")
        if f"{prefix}{theirs}.{part}" in weights
    }


def _projections(weights: Weights, own: str, names: list[str]) -> dict[str, Tensor]:
    if not all(f"{name}.{part}" in weights for name in names for part in ("weight", "bias")):
        return {}
    return {
        f"{own}.in_proj_{part}": torch.cat([weights[f"{name}.{part}"] for name in names]) for part in ("weight", "bias")
    }


def _named(weights: Weights, own: str, theirs: str) -> dict[str, Tensor]:
    return {own: weights[theirs]} if theirs in weights else {}
