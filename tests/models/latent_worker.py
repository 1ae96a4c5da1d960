"""Tiny latent-variable models on a few sentences, and the command that trains them in a process of its own.

    RANK=0 WORLD_SIZE=2 … python latent_worker.py OUT.json

It writes, for each of `CONFIGS`, the loss terms of every step (means over the processes) and a sum of the weights. A
batch's noise depends on how many sentences a process has, so that there is none: the posterior's is 0 of an affine
posterior whose noise weights are 0, and the prior's draws are all one.
"""

from __future__ import annotations

import json
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from paraform.batching import Ragged, Vocabulary, sentence_batches
from paraform.models.latent import LatentConfig, LatentLanguageModel, make_update
from paraform.training import TrainingConfig, make_accelerator

STEPS = 3
SENTENCES = [f"{first} {second} {third}".split() for first in "abcd" for second in "abc" for third in "de"]
TINY: dict[str, Any] = {
    "posterior": "affine",
    "word_width": 8,
    "hidden_width": 8,
    "latent_width": 3,
    "critic_width": 8,
    "critic_steps": 2,
    "critic_learning_rate": 0.01,
    "learning_rate": 0.01,
    "beta_schedule": "constant",
    "encoder_dropout": 0.0,
    "decoder_dropout": 0.0,
    "initial_range": 0.5,
    "batch_size": 8,
}
CONFIGS = {
    "mean": replace(LatentConfig(), **TINY),
    "paper": replace(LatentConfig.paper(), **TINY),
    "reference": replace(LatentConfig.reference(), **TINY),
    "of x and z": replace(LatentConfig.paper(), **TINY, critic="xz"),
    "dual": replace(LatentConfig().with_objective("clvae"), **TINY),
}


def train(config: LatentConfig) -> dict[str, Any]:
    accelerator = make_accelerator(TrainingConfig(device="cpu", tensorboard=False))
    table = Ragged.of([[4 + "abcde".index(word) for word in words] for words in SENTENCES])
    share = {"rank": accelerator.process_index, "world": accelerator.num_processes}
    batches, steps = sentence_batches(table, batch_size=config.batch_size, seed=0, **share)
    torch.manual_seed(0)
    model = LatentLanguageModel(config, Vocabulary.build(SENTENCES, min_count=1))
    assert model.network.posterior.noise is not None
    torch.nn.init.zeros_(model.network.posterior.noise.weight).requires_grad_(False)
    update, _ = make_update(model, config, accelerator, steps_per_epoch=steps)
    terms = []
    for step in range(STEPS):
        found = update(batches(step), step)
        shared = accelerator.reduce(torch.tensor(list(found.values())), reduction="mean")
        terms.append(dict(zip(found, shared.tolist(), strict=True)))
    return {"terms": terms, "weights": sum(parameter.abs().sum().item() for parameter in model.parameters())}


def without_noise() -> dict[str, dict[str, Any]]:
    """What `train` gives for each of `CONFIGS`."""
    drawn = torch.randn_like

    def constant(like: Tensor) -> Tensor:
        return torch.full_like(like, 0.3)

    torch.randn_like = constant  # type: ignore[assignment]
    try:
        return {name: train(config) for name, config in CONFIGS.items()}
    finally:
        torch.randn_like = drawn


if __name__ == "__main__":
    results = without_noise()
    done = make_accelerator(TrainingConfig(device="cpu", tensorboard=False))
    if done.is_main_process:
        Path(sys.argv[1]).write_text(json.dumps({"processes": done.num_processes, **results}))
    done.end_training()
