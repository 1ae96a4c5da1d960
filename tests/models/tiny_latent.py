"""Tiny latent-variable models on a few sentences, and how their training begins.

A batch's noise depends on how many sentences a process has, so that there is none: the posterior's is 0 of an affine
posterior whose noise weights are 0, and the prior's draws are all one.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any
from unittest import mock

import torch

from paraform.batching import Ragged, SentenceBatch, Vocabulary, sentence_batches
from paraform.models.latent import LatentConfig, LatentLanguageModel, make_update
from paraform.models.update import Update

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


def begin(config: LatentConfig, accelerator: Any) -> tuple[LatentLanguageModel, Update, Callable[[int], SentenceBatch]]:
    table = Ragged.of([[4 + "abcde".index(word) for word in words] for words in SENTENCES])
    share = {"rank": accelerator.process_index, "world": accelerator.num_processes}
    batches, steps = sentence_batches(table, batch_size=config.batch_size, seed=0, **share)
    torch.manual_seed(0)
    model = LatentLanguageModel(config, Vocabulary.build(SENTENCES, min_count=1))
    assert model.network.posterior.noise is not None
    torch.nn.init.zeros_(model.network.posterior.noise.weight).requires_grad_(False)
    update, _ = make_update(model, config, accelerator, steps_per_epoch=steps)

    def without_noise(batch: SentenceBatch, step: int) -> dict[str, float]:
        with mock.patch.object(torch, "randn_like", lambda like: torch.full_like(like, 0.3)):
            return update(batch, step)

    return model, without_noise, batches
