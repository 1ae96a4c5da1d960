"""A tiny ELMo of random weights, in files as they are published."""

from __future__ import annotations

import itertools
import json
from pathlib import Path
from typing import Any

import h5py
import numpy as np
from numpy.typing import NDArray

Weights = dict[str, NDArray[np.float32]]
OPTIONS: dict[str, Any] = {
    "lstm": {
        "use_skip_connections": True,
        "projection_dim": 6,
        "cell_clip": 3,
        "proj_clip": 3,
        "dim": 9,
        "n_layers": 2,
    },
    "char_cnn": {
        "activation": "relu",
        "filters": [[1, 4], [2, 3], [5, 6]],
        "n_highway": 2,
        "embedding": {"dim": 5},
        "n_characters": 262,
        "max_characters_per_token": 12,
    },
}


def changed(group: str, **settings: Any) -> dict[str, Any]:
    return OPTIONS | {group: OPTIONS[group] | settings}


def random_weights(options: dict[str, Any], scale: float = 0.5, seed: int = 0) -> Weights:
    """By the names and shapes of the published files, spelled out: those of ElmoConfig are what is tested."""
    generator = np.random.default_rng(seed)
    lstm, cnn = options["lstm"], options["char_cnn"]
    wide, width = sum(count for _, count in cnn["filters"]), lstm["projection_dim"]
    shapes: dict[str, tuple[int, ...]] = {"char_embed": (261, cnn["embedding"]["dim"])}
    for number, (span, count) in enumerate(cnn["filters"]):
        shapes |= {f"CNN/W_cnn_{number}": (1, span, cnn["embedding"]["dim"], count), f"CNN/b_cnn_{number}": (count,)}
    for number in range(cnn["n_highway"] or 0):
        for kind in ("carry", "transform"):
            shapes |= {f"CNN_high_{number}/W_{kind}": (wide, wide), f"CNN_high_{number}/b_{kind}": (wide,)}
    shapes |= {"CNN_proj/W_proj": (wide, width), "CNN_proj/b_proj": (width,)}
    for direction, layer in itertools.product(range(2), range(lstm["n_layers"])):
        cell = f"RNN_{direction}/RNN/MultiRNNCell/Cell{layer}/LSTMCell"
        shapes |= {f"{cell}/W_0": (2 * width, 4 * lstm["dim"]), f"{cell}/B": (4 * lstm["dim"],)}
        shapes |= {f"{cell}/W_P_0": (lstm["dim"], width)}
    return {name: generator.normal(0, scale, shape).astype(np.float32) for name, shape in shapes.items()}


def write(folder: Path, options: object, weights: Weights) -> Path:
    folder.mkdir(exist_ok=True)
    (folder / "elmo_2x9_6_options.json").write_text(json.dumps(options), encoding="utf-8")
    with h5py.File(folder / "elmo_2x9_6_weights.hdf5", "w") as file:
        for name, values in weights.items():
            file[name] = values
    return folder
