"""What CRL-EGPG's Transformer decoder starts from: layers and embeddings of the encoder that it reads."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from paraform import encoders
from paraform.batching import BOS, EOS, PAD, SPECIAL, UNK
from paraform.encoders.transformers_modules import sizes_of
from paraform.models.decoder_start import bert_embeddings, bert_layer
from paraform.models.exemplar.paraphraser import ExemplarParaphraser
from paraform.records import InputError

SPECIAL_PIECES = {UNK: "[UNK]", BOS: "[CLS]", EOS: "[SEP]"}


@torch.no_grad()
def start_decoder(model: ExemplarParaphraser) -> None:
    """Copy the style encoder's layers, spread over its depth, its positions, and its embeddings of all pieces.

    Nothing changes where `config.decoder_start` says "random". The norm behind the new cross-attention starts as that
    behind self-attention, so that the feed-forward part reads features as large as it was trained on; a word that has
    no piece keeps its random numbers.

    Raises: InputError if the encoder is no BERT, or of other sizes.
    """
    config, decoder = model.config, model.network.transformer
    if config.decoder_start == "random" or decoder is None:
        return
    module = encoders.load_module(config.style_encoder)
    weights, found = module.state_dict(), bert_embeddings(module)
    depth = sizes_of(module.config).layers
    heads = getattr(module.config, "num_attention_heads", None)
    count = len(decoder.layers)
    if not {"words", "positions"} <= found.keys() or heads != config.decoder_heads or count > depth:
        raise InputError(
            f"decoder_start: {config.style_encoder!r} has {heads} heads, {depth} layers; expected a BERT of"
            f" decoder_heads {config.decoder_heads} and at least decoder_layers {count}"
        )
    for number, layer in enumerate(decoder.layers):
        copied = bert_layer(weights, number * depth // count)
        copied |= {f"norm2.{part}": copied[f"norm1.{part}"] for part in ("weight", "bias")}
        for name, tensor in copied.items():
            _copy(layer.state_dict()[name], tensor, f"decoder_width {config.decoder_width}")
    for part in ("weight", "bias"):
        _copy(getattr(decoder.norm, part), found[f"embedding_norm.{part}"], f"decoder_width {config.decoder_width}")
    rows = min(len(found["positions"]), decoder.positions.num_embeddings)
    decoder.positions.weight[:rows] = found["positions"][:rows]
    _copy_words(model, found["words"])


def _copy_words(model: ExemplarParaphraser, words_PD: Tensor) -> None:
    tokenizer = encoders.ModelFolder(encoders.locate(model.config.style_encoder)).tokenizer()
    embedding: nn.Embedding = model.network.embedding
    embedding.weight[PAD] = 0
    for row, unit in enumerate(model.vocabulary.words):
        piece = SPECIAL_PIECES.get(row, unit)
        number = tokenizer.token_to_id(piece)
        if number is None and row >= len(SPECIAL):  # "##000" of 3,000, which the tokenizer cuts at its comma
            number = tokenizer.token_to_id(piece.removeprefix("##"))
        if number is not None and row != PAD:
            embedding.weight[row] = words_PD[number]


def _copy(own: Tensor, theirs: Tensor, what: str) -> None:
    if own.shape != theirs.shape:
        raise InputError(f"decoder_start: {list(theirs.shape)} where {what} makes it {list(own.shape)}; expected equal")
    own.copy_(theirs)
