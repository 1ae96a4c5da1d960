"""A tiny VGVAE and a tiny CGEN on ten pairs, and how their training begins."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch

from paraform.models.update import Update
from paraform.records import Pair, Sentence
from paraform_papers.rivals.vgvae import Vgvae, VgvaeConfig, make_update
from paraform_papers.rivals.vgvae.batches import MegaBatch, PairTable, megabatches
from paraform_papers.rivals.vgvae.table import pair_table, vocabulary_of

SIDES = [
    ("the dog runs home", "home runs the dog"),
    ("the cat sleeps", "sleeps the cat ?"),
    ("we like tea", "tea we like"),
    ("stop it now", "do stop it"),
    ("prices rose again", "again prices rose"),
    ("no one came", "came no one ?"),
    ("a bird sang there", "there sang a bird"),
    ("they drink milk", "milk they drink"),
    ("go away", "do go away"),
    ("it snowed then", "then it snowed"),
]
PAIRS = [Pair(Sentence(one), Sentence(other), cluster=at) for at, (one, other) in enumerate(SIDES)]
TEXTS = [text for sides in SIDES for text in sides]
COMMON: dict[str, Any] = {
    "max_tokens": 8, "word_width": 8, "semantic_width": 5, "syntax_width": 3, "hidden_width": 7, "encoder_width": 4,
    "decoder_width": 9, "batch_size": 4, "epochs": 3, "min_count": 1, "word_vectors": "random",
}  # fmt: skip
AVERAGED = {name: value for name, value in COMMON.items() if name not in ("encoder_width", "decoder_width")}
AVERAGED |= {"discriminative_start": 2}
CONFIGS = {
    "paper": VgvaeConfig.paper(**COMMON, word_noise=0.0),
    "no codes": VgvaeConfig.paper(**COMMON, latent_codes=False, word_noise=0.0),
    "averages": VgvaeConfig.paper("averages", **AVERAGED),
}
TINY = CONFIGS["paper"]


def model_of(config: VgvaeConfig = TINY, *, fresh: bool = False) -> Vgvae:
    """Weights drawn large, so that every part shows in the outputs, or, fresh, as training begins with them."""
    torch.manual_seed(0)
    model = Vgvae(config, vocabulary_of(TEXTS, config))
    if not fresh:
        for parameter in model.parameters():
            torch.nn.init.normal_(parameter, std=0.5)
    return model.eval()


def table(model: Vgvae, pairs: list[Pair] = PAIRS) -> PairTable:
    return pair_table(pairs, model.config, model.vocabulary)


def begin(config: VgvaeConfig, accelerator: Any) -> tuple[Vgvae, Update, Callable[[int], MegaBatch]]:
    """How a training begins."""
    model = model_of(config)
    batches, _ = megabatches(table(model), config, seed=0, world=accelerator.num_processes)
    return model, make_update(model, config, accelerator)[0], batches
