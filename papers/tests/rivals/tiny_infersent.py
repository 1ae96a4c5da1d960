"""A tiny InferSent on a few judged pairs, with vectors of a few words in a text file."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch

from paraform.corpora.senteval import LabelledText
from paraform.models.update import Update
from paraform_papers.rivals.infersent import InferSent, InferSentConfig, make_update
from paraform_papers.rivals.infersent.batches import JudgedBatch

PAIRS = [
    ("the dog runs", "an animal runs", 2),
    ("the dog runs", "nobody runs", 0),
    ("the dog runs", "the dog is brown", 1),
    ("a girl reads a book", "a girl reads", 2),
    ("a girl reads a book", "a girl sleeps", 0),
    ("a girl reads a book", "the book is old", 1),
    ("two men sing loudly", "men sing", 2),
    ("two men sing loudly", "the men are silent", 0),
    ("two men sing loudly", "the men sing a song", 1),
    ("it rains", "the street is dry", 0),
]
JUDGED = [LabelledText(first, second, label, "") for first, second, label in PAIRS]
UNKNOWN = ("brown", "loudly")  # words without a vector
WIDTH = 5


def write_vectors(path: Path, more: Sequence[str] = ()) -> str:
    """A GloVe text file of the pairs' words but two, and some more."""
    words = dict.fromkeys([word for one in PAIRS for text in one[:2] for word in text.split()] + list(more))
    draw = np.random.default_rng(0)
    rows = [f"{word} " + " ".join(f"{x:.4f}" for x in draw.standard_normal(WIDTH)) for word in words]
    kept = [row for word, row in zip(words, rows, strict=True) if word not in UNKNOWN]
    path.write_text("\n".join(kept) + "\n", encoding="utf-8")
    return str(path)


FILE = write_vectors(Path(tempfile.gettempdir()) / "tiny_infersent.txt")
TINY = InferSentConfig(
    word_vectors=FILE,
    word_scale=1.0,
    hidden_width=6,
    classifier_width=7,
    batch_size=4,
    epochs=2,
    optimiser="sgd",
    learning_rate=0.1,
)
CONFIGS = {"sgd": TINY, "adam": InferSentConfig(**vars(TINY) | {"optimiser": "adam"})}


def infersent(config: InferSentConfig = TINY) -> InferSent:
    torch.manual_seed(0)
    return InferSent.start(config).eval()


def begin(config: InferSentConfig, accelerator: Any) -> tuple[InferSent, Update, Callable[[int], JudgedBatch]]:
    """How a training begins."""
    model = infersent(config)
    share = {"rank": accelerator.process_index, "world": accelerator.num_processes}
    batches, steps = model.table(PAIRS).batches(batch_size=4, seed=0, **share)
    return model, make_update(model, config, accelerator, steps_per_epoch=steps)[0], batches
