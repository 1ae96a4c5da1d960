"""Ten sentences, tiny models of them, and a step of their training."""

from __future__ import annotations

from typing import Any

import torch

from paraform.batching import Ragged, SentenceBatch, Vocabulary, sentence_batches
from paraform.models.latent import LatentConfig, LatentLanguageModel, make_update
from paraform.training import TrainingConfig, make_accelerator

SENTENCES = [
    "the cat sat on the mat", "a dog ran", "prices rose by N %", "she said that he left", "we like tea",
    "no one came to the old house", "is it raining ?", "stocks fell again on friday", "he plays the piano well", "stop",
]  # fmt: skip
TINY: dict[str, Any] = {
    "word_width": 8,
    "hidden_width": 8,
    "latent_width": 3,
    "critic_width": 16,
    "critic_learning_rate": 1e-3,
    "encoder_dropout": 0.0,
    "plain_dropout": 0.0,
    "decoder_dropout": 0.0,
    "batch_size": 3,
    "svi_steps": 3,
    "initial_range": 0.5,
}


def made(config: LatentConfig, seed: int = 0) -> LatentLanguageModel:
    torch.manual_seed(seed)
    return LatentLanguageModel(config, Vocabulary.build((text.split() for text in SENTENCES), min_count=1))


def batch_of(model: LatentLanguageModel, texts: list[str]) -> SentenceBatch:
    table = Ragged.of([model.vocabulary.encode(text.lower().split()) for text in texts])
    return sentence_batches(table, batch_size=len(texts), seed=0)[0](0)


def updater(model: LatentLanguageModel, config: LatentConfig, steps: int = 10, **options: Any) -> Any:
    accelerator = make_accelerator(TrainingConfig(device="cpu"))
    return make_update(model, config, accelerator, steps_per_epoch=steps, **options)[0]
