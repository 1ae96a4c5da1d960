"""What the decoder layer starts from: a model's own first one, or the encoder's first with new cross-attention.

Rothe et al. 2020, "Leveraging Pre-trained Checkpoints for Sequence Generation Tasks". A layer that is neither BERT's
nor BART's is left as it was drawn.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, nn

from paraform.models.decoder_start import bert_embeddings, bert_layer, named, projections, renamed
from paraform.models.disentangled.network import INITIAL, DisentangledNetwork

BART = {
    "self_attn_layer_norm": "norm1",
    "encoder_attn_layer_norm": "norm2",
    "final_layer_norm": "norm3",
    "fc1": "linear1",
    "fc2": "linear2",
    "self_attn.out_proj": "self_attn.out_proj",
    "encoder_attn.out_proj": "multihead_attn.out_proj",
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
    weights = {name.replace(".base_layer.", "."): weight for name, weight in whole.state_dict().items()}
    if decoder is None:
        # By embeddings of another scale than BERT has, scores of the output layer would be far too sure.
        words_VD = whole.get_input_embeddings().weight
        words_VD = words_VD * (INITIAL / words_VD.std())
        found = {"words": words_VD} | bert_layer(weights, 0) | bert_embeddings(whole)
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
    found = renamed(weights, "layers.0.", BART)
    for own, theirs in (("self_attn", "layers.0.self_attn."), ("multihead_attn", "layers.0.encoder_attn.")):
        found |= projections(weights, own, [f"{theirs}{name}_proj" for name in "qkv"])
    found |= named(weights, "words", "embed_tokens.weight")
    for part in ("weight", "bias"):
        found |= named(weights, f"embedding_norm.{part}", f"layernorm_embedding.{part}")
    if "embed_positions.weight" in weights:
        found["positions"] = weights["embed_positions.weight"][2:]
    return found
