"""A name → a pretrained text encoder.

`minilm` is sentence-transformers/all-MiniLM-L6-v2 with a checked digest, offline if need be; a folder or a hub id
names any other Hugging Face encoder, the encoder half of a seq2seq model, or a model of sentence-transformers; a folder
may hold ELMo's published files, and a text file names vectors of words. Of a stranger's, as of one that a stranger's
checkpoint names, no code is run.
"""

from __future__ import annotations

import copy
from collections.abc import Mapping
from dataclasses import replace
from functools import lru_cache
from pathlib import Path
from typing import Any, cast

import torch
from tokenizers import Tokenizer, processors
from torch import Tensor, nn

from paraform.encoders.bert import PackedBert, can_run
from paraform.encoders.dense import Dense
from paraform.encoders.elmo_files import load_elmo
from paraform.encoders.encoder import Encoder
from paraform.encoders.folder import WEIGHTS, ModelFolder
from paraform.encoders.locating import MINILM_SHA256, locate
from paraform.encoders.names import Variant
from paraform.encoders.sentence_transformer import ModulePipeline, load_pipeline
from paraform.encoders.static import StaticEncoder, is_static, load_static
from paraform.encoders.torch_settings import asked_products, best_dtype, products_on
from paraform.encoders.transformers_modules import (
    Sizes,
    config_of,
    forward_of,
    module_of,
    random_module,
    sizes_of,
    start_of,
)
from paraform.encoders.types import Forward, Pooling
from paraform.encoders.word_vectors import SUFFIXES, WordVectors, load_word_vectors
from paraform.records import InputError
from paraform.threads import loads_alone
from paraform.weights import device_named, load_tensors, sha256, tensors_digest


@loads_alone
def load(
    name: str = "minilm",
    *,
    device: str | torch.device | None = None,
    layer: int = -1,
    pooling: Pooling | None = None,
    seed: int | None = None,
) -> Encoder:
    """A frozen encoder by name.

    Args:
        name: "minilm", a folder with a Hugging Face encoder, or a hub id; of a seq2seq model its encoder half, of a
            causal language model the states behind its start token. Or a folder with ELMo's `…options.json` and
            `…weights.hdf5`.
        device: "cpu", "cuda" …; None: the GPU if there is one.
        layer, pooling: `encode`'s, unless it is told otherwise; None: as the folder says, else mean.
        seed: draws random weights by it, those that training would start with; None: the trained ones.
    Raises: InputError if it is not found, is damaged, has no such layer, or (minilm) not the published digest.
    """
    where = device_named(device)
    return _load(name, ModelFolder(locate(name)), where, layer=layer, pooling=pooling, seed=seed)


def _load(
    name: str, folder: ModelFolder, where: torch.device, *, layer: int, pooling: Pooling | None, seed: int | None
) -> Encoder:
    products = products_on(where)
    made = _minilm(folder, where, products) if (name, seed) == ("minilm", None) else _read(name, folder, where, seed)
    if not -made.num_layers - 1 <= layer <= made.num_layers:
        raise InputError(f"layer {layer} of {name}; expected 0, the embeddings, to {made.num_layers}, the last")
    if (layer, pooling) == (-1, None):
        return made
    own = layer in (-1, made.num_layers) and pooling in (None, made.pooling)  # those that a Dense module was made for
    return replace(made, layer=layer, pooling=pooling or made.pooling, dense=made.dense if own else None)


@loads_alone
def load_embedder(
    name: str = "minilm", *, device: str | torch.device | None = None, variant: Variant | None = None
) -> Encoder | ModulePipeline | StaticEncoder | WordVectors:
    """Whatever turns texts into vectors and is no checkpoint of ours: an encoder as `load` has it, or

    - a folder or hub id of sentence-transformers that is a table of pieces' vectors and their mean;
    - any other of its, with all its modules, by that library;
    - a GloVe or word2vec text file (.txt, .vec).

    Args:
        variant: what is chosen of it (`parse_name`); of an encoder layer, pooling and random weights.
    Raises: InputError as `load`, and if something is chosen that it does not have.
    """
    chosen = variant or Variant()
    where = device_named(device)
    if Path(name).is_file():
        if Path(name).suffix not in SUFFIXES:
            raise InputError(
                f"{name}: a file; expected a folder, or a text file of word vectors ({', '.join(SUFFIXES)})"
            )
        chosen.only(f"{name}, a file of word vectors,")
        return load_word_vectors(Path(name), name)
    folder = ModelFolder(locate(name))
    if not folder.is_plain:
        chosen.only(f"{name}, a model of sentence-transformers whose modules make one vector,")
        return load_static(name, folder, where) if is_static(folder) else load_pipeline(name, folder, where)
    chosen.only(f"{name}, an encoder,", "layer", "pooling", "weights", "seed")
    layer = -1 if chosen.layer is None else chosen.layer
    return _load(name, folder, where, layer=layer, pooling=chosen.pooling, seed=chosen.random_seed)


@lru_cache(maxsize=2)
def _minilm(folder: ModelFolder, where: torch.device, products: str) -> Encoder:
    return _read("minilm", folder, where)  # once a process: content scores and style encoders ask for the same


def _read(name: str, folder: ModelFolder, where: torch.device, seed: int | None = None) -> Encoder:
    dtype = best_dtype(where)
    if folder.is_elmo:
        if seed is not None:
            raise InputError(f"{name}: random weights of an ELMo; expected its own, or another encoder")
        return load_elmo(name, folder.path, where)
    config, weights = folder.config, folder.path / WEIGHTS
    expected = MINILM_SHA256 if name == "minilm" else None
    start: int | None = None
    forward: Forward
    if config.get("model_type") == "bert" and can_run(config) and (seed is not None or weights.is_file()):
        tensors = load_tensors(weights, expected) if seed is None else _random(folder, seed)
        bert = _bert(tensors, config, where)
        forward, sizes = bert.states, Sizes(bert.dimension, bert.num_layers, bert.max_positions)
        digest = (expected or sha256(weights)) if seed is None else tensors_digest(tensors)
    else:
        require_no_int8(name)
        own = config_of(folder)
        sizes = sizes_of(own, folder.path)
        if not folder.modules:  # else sentence-transformers says what stands before a text
            start = start_of(own, folder.path)
        module = module_of(folder, dtype=dtype) if seed is None else random_module(folder, seed)
        digest = folder.weights_digest if seed is None else tensors_digest(module.state_dict())
        forward = forward_of(module.to(where, dtype).eval(), where, sizes.width, start)
    max_tokens = folder.longest(sizes.tokens if start is None or sizes.tokens is None else sizes.tokens - 1)
    tokenizer = tokenizer_of(folder, max_tokens, start)
    dense = folder.dense(sizes.width) if seed is None else None
    return Encoder(
        name=name,
        dimension=sizes.width,
        num_layers=sizes.layers,
        max_tokens=max_tokens,
        layer=-1,
        pooling=folder.pooling,
        normalize=folder.normalizes,
        digest=digest,
        seed=seed,
        device=where,
        _tokenizer=tokenizer,
        _forward=forward,
        dense=None if dense is None else dense.to(where),
        start=start,
    )


def require_no_int8(name: str) -> None:
    """Raises: InputError if products of bytes are asked for, of an encoder that is none like BERT."""
    if asked_products() == "int8":
        raise InputError(f"products int8: {name} is no encoder like BERT; expected float32 or bfloat16")


def _bert(tensors: Mapping[str, Tensor], config: Mapping[str, object], where: torch.device) -> PackedBert:
    bert = PackedBert(tensors, config).to(where, best_dtype(where))
    return bert.to_int8() if asked_products() == "int8" else bert


def tokenizer_of(folder: ModelFolder, max_tokens: int, start: int | None) -> Tokenizer:
    """The folder's, which cuts at that limit, pads nothing and leaves `start` to whoever runs the encoder."""
    tokenizer = folder.tokenizer()
    tokenizer.no_padding()
    if start is not None and tokenizer.encode("").ids[:1] == [start]:  # Llama's puts it there too: once is enough
        tokenizer.post_processor = processors.TemplateProcessing(single="$A")
    tokenizer.enable_truncation(max_tokens)
    return tokenizer


def _random(folder: ModelFolder, seed: int) -> dict[str, Tensor]:
    tensors: dict[str, Tensor] = random_module(folder, seed).state_dict()
    return tensors


def encoder_of(
    module: nn.Module,
    tokenizer: Tokenizer,
    *,
    name: str,
    max_tokens: int,
    dense: Dense | None = None,
    layer: int = -1,
    start: int | None = None,
) -> Encoder:
    """A frozen `Encoder` of the module's weights as they are now, on its device: the mean of a layer.

    Args:
        tokenizer: the encoder's own; it is not changed.
        dense: a linear map behind the mean.
        layer, start: as `Encoder` has them.
    """
    weights = dict(module.state_dict())
    device = next(iter(weights.values())).device
    config = cast(Any, module).config
    sizes = sizes_of(config)
    dtype = best_dtype(device)
    forward: Forward
    if config.model_type == "bert" and can_run(config.to_dict()):
        forward = _bert(weights, config.to_dict(), device).states
    else:
        require_no_int8(name)
        narrow = module if dtype == torch.float32 else copy.deepcopy(module).to(dtype)
        forward = forward_of(narrow, device, sizes.width, start)
    own = Tokenizer.from_str(tokenizer.to_str())
    own.no_padding()
    own.enable_truncation(max_tokens)
    return Encoder(
        name=name,
        dimension=sizes.width,
        num_layers=sizes.layers,
        max_tokens=max_tokens,
        layer=layer,
        pooling="mean",
        normalize=True,
        digest=tensors_digest(weights),
        seed=None,
        device=device,
        _tokenizer=own,
        _forward=forward,
        dense=dense,
        start=start,
    )
