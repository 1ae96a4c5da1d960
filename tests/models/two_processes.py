"""The first steps of a training, in one process, or in several that share each batch.

    RANK=0 WORLD_SIZE=2 … python two_processes.py OUT.json MODULE.py …

A MODULE has `CONFIGS`, by name, and `begin(config, accelerator)`, which gives a model, its update and its batches.
"""

from __future__ import annotations

import importlib.util
import json
import sys
from collections.abc import Sequence
from pathlib import Path
from types import ModuleType
from typing import Any

import torch

from paraform.training import TrainingConfig, make_accelerator

STEPS = 3


def loaded(path: Path) -> ModuleType:
    """The module of a file."""
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[path.stem] = module
    spec.loader.exec_module(module)
    return module


def train(modules: Sequence[ModuleType]) -> dict[str, Any]:
    """Each configuration's terms of every step, means over the processes, and a sum of its weights at the end."""
    accelerator = make_accelerator(TrainingConfig(device="cpu", tensorboard=False))
    found: dict[str, Any] = {"processes": accelerator.num_processes}
    for module, name in [(each, name) for each in modules for name in each.CONFIGS]:
        config = module.CONFIGS[name]
        model, update, batches = module.begin(config, accelerator)
        terms = []
        for step in range(STEPS):
            given = update(batches(step), step)
            shared = accelerator.reduce(torch.tensor(list(given.values())), reduction="mean")
            terms.append(dict(zip(given, shared.tolist(), strict=True)))
        weights = sum(parameter.abs().sum().item() for parameter in model.parameters())
        found[f"{module.__name__} {name}"] = {"terms": terms, "weights": weights}
    return found


if __name__ == "__main__":
    results = train([loaded(Path(path)) for path in sys.argv[2:]])
    done = make_accelerator(TrainingConfig(device="cpu", tensorboard=False))
    if done.is_main_process:
        Path(sys.argv[1]).write_text(json.dumps(results))
    done.end_training()
