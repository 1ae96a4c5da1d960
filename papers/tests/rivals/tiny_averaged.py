"""A tiny sp-average on a few pairs."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import torch

from paraform.models.update import Update
from paraform.records import Pair, Sentence
from paraform.trainers.source_files import files_of
from paraform_papers.rivals.averaged import AveragedConfig, AveragedEncoder, make_update
from paraform_papers.rivals.averaged.batches import BagTable, MegaBatch, megabatches
from paraform_papers.rivals.averaged.trainer import bag_table

SIDES = [
    ("the dog runs home", "home runs the dog"),
    ("who sleeps at home ?", "at home , who sleeps ?"),
    ("a cat does the work", "the work is done by a cat"),
    ("how big is my arm ?", "is my arm big"),
    ("how can i earn money ?", "what earns me money ?"),
    ("she reads a book", "a book is what she reads"),
    ("it rains in spain", "rain falls in spain"),
    ("they sell fresh bread", "fresh bread is sold here"),
    ("where is the station ?", "how do i find the station ?"),
    ("nobody came to the party", "the party had no guests"),
]
PAIRS = [Pair(Sentence(one), Sentence(other), cluster=at) for at, (one, other) in enumerate(SIDES)]
TINY = AveragedConfig(width=8, batch_size=4, megabatch=2, epochs=3, vocabulary_size=60)
CONFIGS = {"tiny": TINY}


def encoder(config: AveragedConfig = TINY) -> AveragedEncoder:
    torch.manual_seed(0)
    return AveragedEncoder.start(config, [text for sides in SIDES for text in sides])


def table(model: AveragedEncoder, pairs: list[Pair] = PAIRS) -> BagTable:
    return bag_table(pairs, model, files_of(pairs))


def begin(config: AveragedConfig, accelerator: Any) -> tuple[AveragedEncoder, Update, Callable[[int], MegaBatch]]:
    """How a training begins."""
    model = encoder(config)
    batches, _ = megabatches(
        table(model), batch_size=config.batch_size, epochs=config.epochs, most=config.megabatch,
        growth=1, seed=0, world=accelerator.num_processes,
    )  # fmt: skip
    return model, make_update(model, config, accelerator)[0], batches


def cosine(one: Any, other: Any) -> float:
    return float(np.dot(one, other) / np.linalg.norm(one) / np.linalg.norm(other))
