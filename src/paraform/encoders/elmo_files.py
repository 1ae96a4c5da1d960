"""ELMo's published files, `…options.json` and `…weights.hdf5`, as an `Encoder`.

A folder may be a stranger's: sizes are compared before memory is taken, and links out of the HDF5 file, or data that it
keeps elsewhere, are refused.
"""

from __future__ import annotations

import hashlib
import importlib
import json
import math
import os
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor

from paraform.encoders.dense import Dense
from paraform.encoders.elmo import Elmo, ElmoConfig, clip_of, elmo_forward, elmo_of, lstm_name, weights_of
from paraform.encoders.elmo_words import CHARACTERS, WordTokenizer
from paraform.encoders.encoder import Encoder
from paraform.encoders.folder import ELMO, USUAL_LIMIT, read_json
from paraform.records import InputError
from paraform.weights import PathLike, sha256

OPTIONS, WEIGHTS = ELMO
ACTIVATIONS = ("relu", "tanh")


def load_elmo(name: str, folder: Path, device: torch.device) -> Encoder:
    """The frozen ELMo of a folder: a word's states at layer 0, its characters', to the last LSTM; 2 P features each.

    Texts are cut into words as the Penn Treebank has them, and after 512 words. States of a text's words alone are
    pooled, not those of the marks at its ends. Products are float32.

    Raises: InputError if a file is not there or not alone, if the options name no ELMo or another size than the weights
        have, if a weight is missing or not finite, or if h5py is not installed.
    """
    elmo, digest = read_elmo(folder)
    return elmo_encoder(elmo.to(device), name=name, digest=digest)


def read_elmo(folder: Path) -> tuple[Elmo, str]:
    """The network of a folder, on the CPU, and SHA-256 of its two files. Raises: InputError as `load_elmo`."""
    options, weights = (_only(folder, kind) for kind in (OPTIONS, WEIGHTS))
    config = read_options(options)
    elmo = elmo_of(config, read_weights(weights, config))
    return elmo, hashlib.sha256(f"{sha256(options)} {sha256(weights)}".encode()).hexdigest()


def elmo_encoder(elmo: Elmo, *, name: str, digest: str, dense: Dense | None = None) -> Encoder:
    """A network as `load_elmo` gives it, on its device; `dense` is a linear map behind the mean."""
    config, device = elmo.config, elmo.characters.projection.weight.device
    return Encoder(
        name=name,
        dimension=2 * config.projection,
        num_layers=config.layers,
        max_tokens=USUAL_LIMIT,
        layer=-1,
        pooling="mean",
        normalize=True,
        digest=digest,
        seed=None,
        device=device,
        _tokenizer=WordTokenizer(USUAL_LIMIT, config.max_characters),
        _forward=elmo_forward(elmo),
        dense=dense,
        dtype=torch.float32,
    )


def save_elmo(elmo: Elmo, folder: PathLike, *, card: str) -> Path:
    """Write a network as it is published, one file of options and one of weights, with a README.md.

    Args:
        folder: the folder to be made; none is replaced, and a kill leaves none.
        card: README.md.
    Raises: InputError if there is something of that name, or h5py is not installed.
    """
    final = Path(folder)
    if final.exists():
        raise InputError(f"{folder}: is there already; expected the name of a folder to be made")
    h5py = _h5py(final)
    final.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=f".{final.name}.", dir=final.parent) as scratch:
        unfinished = Path(scratch) / final.name
        unfinished.mkdir()
        with h5py.File(unfinished / WEIGHTS.replace("*", "elmo_"), "w") as file:
            for name, values in weights_of(elmo).items():
                file[name] = values.detach().float().cpu().contiguous().numpy()
        options = json.dumps(options_of(elmo.config), indent=2) + "\n"
        (unfinished / OPTIONS.replace("*", "elmo_")).write_text(options, encoding="utf-8")
        (unfinished / "README.md").write_text(card, encoding="utf-8")
        os.rename(unfinished, final)
    return final


def options_of(config: ElmoConfig) -> dict[str, Any]:
    """What a file of options says of these sizes: `read_options` reads it."""
    clips = {name: clip if math.isfinite(clip) else None for name, clip in (
        ("cell_clip", config.cell_clip), ("proj_clip", config.projection_clip)
    )}  # fmt: skip
    return {
        "lstm": {
            "use_skip_connections": config.skip,
            "projection_dim": config.projection,
            "dim": config.cells,
            "n_layers": config.layers,
            **clips,
        },
        "char_cnn": {
            "activation": config.activation,
            "filters": [list(pair) for pair in config.filters],
            "n_highway": config.highways,
            "embedding": {"dim": config.character_width},
            "n_characters": CHARACTERS + 1,  # as other programs want it where a model is used, not trained
            "max_characters_per_token": config.max_characters,
        },
    }


def read_options(path: Path) -> ElmoConfig:
    """The sizes in a file of options. Raises: InputError, naming file and setting, for what no ELMo has."""
    options = read_json(path)
    cnn, lstm = (_group(options, name, path) for name in ("char_cnn", "lstm"))
    if options.get("bidirectional", True) is not True:
        raise InputError(f"{path}: bidirectional is {options['bidirectional']!r}; expected true")
    characters = _number(cnn, "n_characters", path)
    # 261 as trained, 262 with the number that other programs give to what is no character.
    if characters not in (CHARACTERS, CHARACTERS + 1):
        raise InputError(f"{path}: n_characters is {characters}; expected {CHARACTERS} or {CHARACTERS + 1}")
    activation = cnn.get("activation")
    if activation not in ACTIVATIONS:
        raise InputError(f"{path}: activation is {str(activation)[:40]!r}; expected relu or tanh")
    skip = lstm.get("use_skip_connections", False)
    if not isinstance(skip, bool):
        raise InputError(f"{path}: use_skip_connections is {str(skip)[:40]!r}; expected true or false")
    try:
        return ElmoConfig(
            character_width=_number(_group(cnn, "embedding", path), "dim", path),
            max_characters=_number(cnn, "max_characters_per_token", path),
            filters=_filters(cnn, path),
            activation="relu" if activation == "relu" else "tanh",
            highways=0 if cnn.get("n_highway") is None else _number(cnn, "n_highway", path),
            projection=_number(lstm, "projection_dim", path),
            cells=_number(lstm, "dim", path),
            layers=_number(lstm, "n_layers", path),
            skip=skip,
            cell_clip=_clip(lstm, "cell_clip", path),
            projection_clip=_clip(lstm, "proj_clip", path),
        )
    except InputError as error:
        raise InputError(str(error) if str(path) in str(error) else f"{path}: {error}") from error


def read_weights(path: Path, config: ElmoConfig) -> dict[str, Tensor]:
    """The weights of a file by their published names, float32.

    Raises: InputError, naming file and weight, if one is not there, has another shape than the options make it, is no
        array of floats in this file, or holds NaN or infinity; if the file has more layers than the options; or if it
        is smaller than the weights, so that it cannot hold them.
    """
    h5py = _h5py(path)
    shapes = config.shapes()
    try:
        with h5py.File(path, "r") as file:
            found = {name: _dataset(file, name, path) for name in shapes}
            for name, shape in shapes.items():
                if found[name].shape != shape:
                    came = f"{name!r} is {list(found[name].shape)}; the options make it {list(shape)}"
                    raise InputError(f"{path}: {came}")
            for name in _further(config):
                if name in file:
                    raise InputError(f"{path}: has {name!r}; expected no more layers than the options have")
            size = sum(math.prod(shape) * found[name].dtype.itemsize for name, shape in shapes.items())
            if size > path.stat().st_size:
                came = f"{path.stat().st_size:,} bytes for weights of {size:,}"
                raise InputError(f"{path}: {came}; expected a file that holds them all, not compressed")
            read = {name: np.asarray(found[name][...], np.float32) for name in shapes}
    except (OSError, RuntimeError, KeyError, ValueError) as error:  # what a damaged file sets off in HDF5
        if isinstance(error, InputError):
            raise
        reason = " ".join(str(error).split())[:200]
        raise InputError(f"{path}: {reason}; expected ELMo's weights in HDF5") from error
    for name, values in read.items():
        if not np.isfinite(values).all():
            raise InputError(f"{path}: {name!r} holds NaN or infinity; expected finite weights")
    return {name: torch.from_numpy(values) for name, values in read.items()}


def _h5py(path: Path) -> Any:
    try:
        return importlib.import_module("h5py")
    except ModuleNotFoundError as error:
        raise InputError(f"{path}: HDF5, which needs h5py; pip install 'paraform[elmo]'") from error


def _only(folder: Path, kind: str) -> Path:
    found = sorted(folder.glob(kind))
    if len(found) != 1:
        came = f"{found[0].name} and {found[1].name}" if found else "no such file"
        raise InputError(f"{folder / kind}: {came}; expected one of ELMo's options.json and one weights.hdf5")
    return found[0]


def _group(options: Mapping[str, Any], name: str, path: Path) -> dict[str, Any]:
    value = options.get(name)
    if not isinstance(value, dict):
        raise InputError(f"{path}: {name} is {str(value)[:40]!r}; expected an object, as in ELMo's options")
    return value


def _number(options: Mapping[str, Any], name: str, path: Path) -> int:
    value = options.get(name)
    if not isinstance(value, int) or isinstance(value, bool):
        raise InputError(f"{path}: {name} is {str(value)[:40]!r}; expected a whole number")
    return value


def _clip(options: Mapping[str, Any], name: str, path: Path) -> float:
    value = options.get(name)
    if value is not None and (not isinstance(value, int | float) or isinstance(value, bool) or not value >= 0):
        raise InputError(f"{path}: {name} is {str(value)[:40]!r}; expected a number of at least 0, or null")
    return clip_of(value)


def _filters(options: Mapping[str, Any], path: Path) -> tuple[tuple[int, int], ...]:
    value = options.get("filters")
    pairs = value if isinstance(value, list) else []
    if not pairs or not all(
        isinstance(pair, list) and len(pair) == 2 and all(type(number) is int for number in pair) for pair in pairs
    ):
        raise InputError(f"{path}: filters is {str(value)[:40]!r}; expected pairs of a width and a number")
    return tuple((width, count) for width, count in pairs)


def _dataset(file: Any, name: str, path: Path) -> Any:
    """The array of that name, which stands in this very file."""
    h5py = _h5py(path)
    group = file
    for part in name.split("/"):
        link = group.get(part, getlink=True) if isinstance(group, h5py.Group) else None
        if link is None:
            raise InputError(f"{path}: no {name!r}; expected ELMo's weights by their published names")
        if not isinstance(link, h5py.HardLink):
            raise InputError(f"{path}: {name!r} is a link; expected weights that stand in the file itself")
        group = group[part]
    if not isinstance(group, h5py.Dataset) or group.dtype.kind != "f":
        raise InputError(f"{path}: {name!r} is no array of floats; expected ELMo's weights")
    if group.external or group.is_virtual:
        raise InputError(f"{path}: {name!r} is kept in another file; expected weights that stand in the file itself")
    return group


def _further(config: ElmoConfig) -> list[str]:
    """What a file of more layers than these would have."""
    lstms = [lstm_name(direction, config.layers).removesuffix("/LSTMCell") for direction in range(2)]
    return [f"CNN/W_cnn_{len(config.filters)}", f"CNN_high_{config.highways}", *lstms]
