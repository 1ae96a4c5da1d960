"""An encoder as a folder of sentence-transformers, which every tool of that ecosystem loads."""

from __future__ import annotations

import json
import os
import tempfile
from pathlib import Path
from typing import Any

import torch
from tokenizers import Tokenizer
from torch import nn

from paraform.encoders.dense import Dense
from paraform.encoders.elmo_files import is_elmo
from paraform.encoders.encoder import Encoder
from paraform.encoders.hugging_face import WEIGHTS, config_of, sizes_of
from paraform.encoders.loading import load_module, locate
from paraform.encoders.onnx import save_onnx
from paraform.encoders.tokenizing import tokenizer_of
from paraform.encoders.trainable import first_layers
from paraform.records import InputError, require_text
from paraform.weights import PathLike, require_path, save_tensors


def export_encoder(
    encoder: Encoder,
    folder: PathLike,
    *,
    card: str = "",
    terms: str = "",
    dense: Dense | None = None,
    onnx: bool = False,
) -> Path:
    """Write an encoder as a folder that `SentenceTransformer(folder)` reads, with the same vectors.

    Args:
        encoder: a trained one, as `load` makes it, whose vectors are the mean of its states, at length 1; of layers
            above the one that it takes nothing is written.
        card: README.md; "": a line that says what it is.
        terms: those of the training data, for the card.
        dense: the linear map behind the mean; None: its own, if it has one.
    Raises: InputError for another encoder; and as `save_sentence_transformer`.
    """
    require_text(terms, "terms")
    require_exported(encoder, folder)
    place = locate(encoder.name)
    module: Any = load_module(encoder.name)
    if encoder.layer not in (-1, encoder.num_layers):
        first_layers(module, encoder.layer % (encoder.num_layers + 1))
    card = (
        card
        or f"# {Path(folder).name}\n\n`{encoder.name}`, exported by paraform: for use under that encoder's terms.\n"
    )
    return save_sentence_transformer(
        module,
        tokenizer_of(place),
        folder,
        max_tokens=encoder.max_tokens,
        card=card + (f"\n**Terms of the training data.** {terms}\n" if terms else ""),
        dense=dense or (None if encoder.dense is None else encoder.dense.to(torch.device("cpu"))),
        onnx=onnx,
    )


def require_exported(encoder: Encoder, folder: PathLike) -> None:
    """Raises: InputError for an encoder that `export_encoder` cannot write, or a folder that is there already."""
    require_path(folder)
    if Path(folder).exists():
        raise InputError(f"{folder}: is there already; expected the name of a folder to be made")
    place = locate(encoder.name)
    if is_elmo(place):
        raise InputError(f"{encoder.name}: ELMo's published files already; expected an encoder of transformers'")
    require_whole(config_of(place))
    if encoder.layer in (0, -encoder.num_layers - 1):
        raise InputError(f"{encoder.name}: layer 0, the embeddings alone; expected a layer from 1 on")
    states = "trained" if encoder.seed is None else "random"
    if (encoder.pooling, states, encoder.normalize) != ("mean", "trained", True):
        length = "at length 1" if encoder.normalize else "at its own length"
        raise InputError(
            f"{encoder.name}: the {encoder.pooling} of {states} states, {length}; expected the mean of trained ones, at"
            " length 1"
        )


def save_sentence_transformer(
    module: nn.Module,
    tokenizer: Tokenizer,
    folder: PathLike,
    *,
    max_tokens: int,
    card: str,
    dense: Dense | None = None,
    onnx: bool = False,
) -> Path:
    """Write the mean of the module's last states, at length 1, as a folder that `SentenceTransformer(folder)` reads.

    Args:
        module: an encoder as transformers has it.
        tokenizer: its own.
        folder: the folder to be made; none is replaced, and a kill leaves none.
        max_tokens: a longer text is cut there, special tokens counted.
        card: README.md.
        dense: a linear map between the mean and its length.
        onnx: with `onnx/model.onnx`, the module as that library's ONNX backend reads it; the rest stays the library's.
    Returns: the folder.
    Raises: InputError if there is something of that name, the module is half of a model with a decoder, or what
        writes ONNX is not installed.
    """
    require_path(folder)
    final = Path(folder)
    if final.exists():
        raise InputError(f"{folder}: is there already; expected the name of a folder to be made")
    model: Any = module
    require_whole(model.config)
    width = sizes_of(model.config, final).width
    kinds = ["Transformer", "Pooling", *(["Dense"] if dense else []), "Normalize"]
    paths = ["", *(f"{number}_{kind}" for number, kind in enumerate(kinds[1:], start=1))]
    settings: dict[str, Any] = {
        "modules.json": [
            {"idx": number, "name": str(number), "path": path, "type": f"sentence_transformers.models.{kind}"}
            for number, (path, kind) in enumerate(zip(paths, kinds, strict=True))
        ],
        "sentence_bert_config.json": {"max_seq_length": max_tokens, "do_lower_case": False},
        "1_Pooling/config.json": {"word_embedding_dimension": width, "pooling_mode_mean_tokens": True},
        f"{paths[-1]}/config.json": {},
    }
    if dense:
        settings[f"{paths[2]}/config.json"] = dense.settings()
    final.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=f".{final.name}.", dir=final.parent) as scratch:
        unfinished = Path(scratch) / final.name
        model.save_pretrained(unfinished)
        _save_tokenizer(tokenizer, model.config, max_tokens, unfinished)
        for name, value in settings.items():
            (unfinished / name).parent.mkdir(exist_ok=True)
            (unfinished / name).write_text(json.dumps(value, indent=2) + "\n", encoding="utf-8")
        if dense:
            save_tensors(dense.tensors(), unfinished / paths[2] / WEIGHTS)
        if onnx:
            save_onnx(module, unfinished / "onnx" / "model.onnx", max_tokens=max_tokens)
        (unfinished / "README.md").write_text(card, encoding="utf-8")
        os.rename(unfinished, final)
    return final


def require_whole(config: Any) -> None:
    """Raises: InputError for half of a model: that library would make the whole, and draw its weights."""
    if getattr(config, "is_encoder_decoder", False):
        raise InputError(
            f"the encoder half of a {config.model_type}: sentence-transformers loads whole models alone; expected one"
            " without a decoder"
        )


def _save_tokenizer(tokenizer: Tokenizer, config: Any, max_tokens: int, folder: Path) -> None:
    """As transformers has it, which wants to be told what its special tokens are called."""
    from transformers import PreTrainedTokenizerFast

    ends = tokenizer.encode("").tokens
    padding = None if config.pad_token_id is None else tokenizer.id_to_token(config.pad_token_id)
    names = {"pad_token": padding, "cls_token": ends[0] if ends else None, "sep_token": ends[-1] if ends else None}
    names |= {"unk_token": getattr(tokenizer.model, "unk_token", None)}
    own = Tokenizer.from_str(tokenizer.to_str())
    own.no_truncation()
    own.no_padding()
    found = {name: token for name, token in names.items() if token is not None}
    made: Any = PreTrainedTokenizerFast  # transformers leaves it untyped
    made(tokenizer_object=own, model_max_length=max_tokens, **found).save_pretrained(folder)
    path = folder / "tokenizer_config.json"
    # transformers 5 writes a name that older ones do not know; all know this
    settings = {**json.loads(path.read_text(encoding="utf-8")), "tokenizer_class": "PreTrainedTokenizerFast"}
    path.write_text(json.dumps(settings, indent=2) + "\n", encoding="utf-8")
