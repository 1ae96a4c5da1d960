"""A tiny SGCP on the ten parsed pairs of `tiny_scpn`, and how its training begins."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from tiny_scpn import PAIRS, TEXTS, TREES, parsed

from paraform.models.update import Update
from paraform_papers.rivals.sgcp import SgcpConfig, SgcpParaphraser, make_update
from paraform_papers.rivals.sgcp.batches import PairBatch, PairTable, pair_batches
from paraform_papers.rivals.sgcp.table import pair_table
from paraform_papers.rivals.sgcp.trainer import new_model

__all__ = ["PAIRS", "TEXTS", "TREES", "parsed"]

COMMON: dict[str, Any] = {
    "word_width": 8,
    "width": 9,
    "units": "words",
    "max_tokens": 8,
    "batch_size": 4,
    "epochs": 2,
    "dropout": 0.0,
    "parser": "syntax",
}
TINY = SgcpConfig(**COMMON, layers=2)
CONFIGS = {
    "paper": SgcpConfig.paper(**COMMON),
    "compact": SgcpConfig.compact(**COMMON, min_count=1),
}


def paraphraser(config: SgcpConfig = TINY, *, fresh: bool = False) -> SgcpParaphraser:
    """Weights drawn large, so that every part shows in the outputs, or, fresh, as training begins with them."""
    torch.manual_seed(0)
    model = new_model(PAIRS, parsed(), config)
    if not fresh:
        for parameter in model.parameters():
            torch.nn.init.normal_(parameter, std=0.5)
    return model.eval()


def table(model: SgcpParaphraser) -> PairTable:
    return pair_table(PAIRS, parsed(), model.config, model.vocabulary, model.symbols)


def batches_of(model: SgcpParaphraser, **how: Any) -> tuple[Callable[[int], PairBatch], int]:
    return pair_batches(table(model), **{"batch_size": model.config.batch_size, "seed": 0, **how})


def begin(config: SgcpConfig, accelerator: Any) -> tuple[SgcpParaphraser, Update, Callable[[int], PairBatch]]:
    model = paraphraser(config)
    batches, steps = batches_of(model, rank=accelerator.process_index, world=accelerator.num_processes)
    return model, make_update(model, config, accelerator, steps_per_epoch=steps)[0], batches
