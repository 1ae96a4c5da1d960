"""A tiny CRL-EGPG on random triples, and how its training begins."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import torch
from torch import Tensor

from paraform.batching import SPECIAL, Ragged, Vocabulary
from paraform.models.exemplar import ExemplarConfig, ExemplarParaphraser, make_update
from paraform.models.exemplar.batches import PickedStates, StyleInput, TripleBatch, TripleTable, by_length
from paraform.models.update import Update

WORDS, BEYOND, FEATURES = 16, 5, 6

COPYING = ExemplarConfig(
    word_width=8,
    content_width=6,
    decoder_width=10,
    style_trainable=False,
    style_pooling="gru",
    style_width=5,
    style_attention=True,
    copy=True,
    decoder_layers=2,
    tie_embeddings=True,
    mask_clusters=True,
    learning_rate=0.01,
    batch_size=8,
    epochs=2,
    schedule="linear",
    clip_norm=0.5,
)
PAPER = replace(
    ExemplarConfig.paper(), word_width=8, content_width=6, style_trainable=False, learning_rate=0.01, batch_size=8
)
CONFIGS = {
    "copying": COPYING,
    "both": replace(COPYING, coverage=True, content_input="both"),
    "states": replace(COPYING, content_input="states", style_pooling="mean"),
    "coverage": replace(COPYING, coverage=True),
    "paper": PAPER,
    "reference": replace(PAPER, attention=True, similarity="cosine"),
}


def table(seed: int = 0, triples: int = 40, *, beside: bool = False) -> TripleTable:
    """Random triples over sentences of 1 to 7 words; some words are beyond the vocabulary, some stand twice.

    With `beside` each word has a state of its own, for the networks that read them.
    """
    random = np.random.default_rng(seed)
    vocabulary = len(SPECIAL) + WORDS
    rows = [random.integers(4, vocabulary + BEYOND, random.integers(1, 8)).tolist() for _ in range(30)]
    rows[0] = [vocabulary, 5, vocabulary, 5]
    rows[1] = [5, 6, 5, 5, 5, 5, 6]  # said more often than coverage counts
    lengths = random.integers(2, 7, 30)
    states = random.standard_normal((int(lengths.sum()), FEATURES)).astype(np.float16)
    style = Ragged(states, np.concatenate([[0], np.cumsum(lengths)]))
    source, target = random.integers(0, 30, (2, triples))
    source[0] = target[0] = 0
    source[1] = target[1] = 1
    exemplars = random.integers(0, 30, (triples, 3))
    clusters = random.integers(0, 12, triples)
    words = Ragged.of(rows)
    every = Ragged(np.arange(len(words.values)), words.offsets)
    content = PickedStates(random.standard_normal((len(words.values), FEATURES)).astype(np.float16), every)
    return TripleTable(words, style, source, target, exemplars, clusters, content=content if beside else None)


def read_by(config: ExemplarConfig) -> TripleTable:
    return table(beside=config.content_input != "words")


def paraphraser(config: ExemplarConfig, seed: int = 0) -> ExemplarParaphraser:
    torch.manual_seed(seed)
    vocabulary = Vocabulary((*SPECIAL, *(f"w{number}" for number in range(WORDS))), {})
    model = ExemplarParaphraser(config, vocabulary, style_features=FEATURES)
    for parameter in model.parameters():  # larger than they begin, so that every part shows in the outputs
        torch.nn.init.normal_(parameter, std=0.5)
    return model


def whole_batch(config: ExemplarConfig = COPYING) -> TripleBatch:
    batches, _ = by_length(read_by(config), batch_size=40, seed=0)
    return batches(0)


def one_row(batch: TripleBatch, row: int) -> TripleBatch:
    """The triple alone, without its padding."""

    def cut(values: Tensor, lengths: Tensor) -> tuple[Tensor, Tensor]:
        (length,) = lengths[row : row + 1]
        return values[row : row + 1, :length], lengths[row : row + 1]

    return TripleBatch(
        *cut(batch.source_BT, batch.source_lengths_B),
        *cut(batch.target_BT, batch.target_lengths_B),
        StyleInput(*cut(*batch.exemplar)),
        StyleInput(*cut(*batch.target_style)),
        batch.clusters_B[row : row + 1],
        None if batch.source_states is None else cut(batch.source_states, batch.source_lengths_B)[0],
        None if batch.target_states is None else cut(batch.target_states, batch.target_lengths_B)[0],
    )


def begin(config: ExemplarConfig, accelerator: Any) -> tuple[ExemplarParaphraser, Update, Callable[[int], TripleBatch]]:
    rank, world = accelerator.process_index, accelerator.num_processes
    batches, steps = by_length(read_by(config), batch_size=config.batch_size, seed=0, rank=rank, world=world)
    model = paraphraser(config)
    return model, make_update(model, config, accelerator, steps_per_epoch=steps)[0], batches


def require_targets(model: ExemplarParaphraser, sources: list[str], exemplars: list[str], targets: list[str]) -> None:
    """Greedy, beam search and draws give every target, cased and spaced as it was written, in any batches and order."""
    for how in ({}, {"beam": 3}, {"temperature": 0.05}, {"batch_size": 3}):
        assert model.paraphrase(sources, exemplars, **how) == targets, how
    assert model.paraphrase(sources[::-1], exemplars[::-1]) == targets[::-1]
