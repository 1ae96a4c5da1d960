"""A seq2seq's steps: ten pairs come back, parts are one batch, the rate rises and falls."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
import tiny_seq2seq as tiny
import torch

from paraform.models.seq2seq import make_update
from paraform.models.seq2seq.batches import pair_batches
from paraform.training import TrainingConfig, make_accelerator


def accelerator() -> Any:
    return make_accelerator(TrainingConfig(device="cpu", tensorboard=False))


@pytest.mark.parametrize(("kind", "rate"), [("bart", 1e-2), ("t5", 2e-2)])
def test_ten_pairs_come_back(kind: str, rate: float) -> None:
    """Their own paraphrases, each behind its own tree, greedily and by a beam."""
    config = replace(tiny.TINY, batch_size=10, epochs=150, learning_rate=rate, warmup=10, written_tree="cut")
    model = tiny.paraphraser(config, kind, fresh=True)
    batches, steps = pair_batches(tiny.table(model), batch_size=10, seed=0)
    update, _ = make_update(model, config, accelerator(), steps_per_epoch=steps)
    model.train()
    terms = [update(batches(step), step) for step in range(150)]
    assert terms[-1]["loss"] < 0.02 < terms[0]["loss"]
    sources, targets = tiny.TEXTS[::2], tiny.TEXTS[1::2]
    forms = [tiny.parsed()[text] for text in targets]
    own = [tiny.parsed()[text] for text in sources]
    for how in ({}, {"beam": 3}):
        said = model.decode_trees(sources, forms, source_trees=own, **how)  # type: ignore[arg-type]
        assert [text.lower() for text in said] == [text.replace(" ?", "?") for text in targets]
    assert all(one.whole and one.tree.startswith("(ROOT (S") for one in model.said(sources, forms, own))


def test_parts_are_one_batch() -> None:
    """Whatever a step is computed in, its gradient is that of the mean over all pieces."""
    found = []
    for parts in (1, 3, 4):
        config = replace(tiny.TINY, batch_size=10, accumulation=parts)
        model = tiny.paraphraser(config, fresh=True).train()
        batches, steps = pair_batches(tiny.table(model), batch_size=10, seed=0)
        update, _ = make_update(model, config, accelerator(), steps_per_epoch=steps)
        terms = update(batches(0), 0)
        expected = model.network.module.get_input_embeddings().weight  # type: ignore[operator]
        found.append((terms, expected.detach().clone()))
    for terms, weights in found[1:]:
        assert terms == pytest.approx(found[0][0], rel=1e-4)
        torch.testing.assert_close(weights, found[0][1], atol=1e-4, rtol=1e-3)


def test_the_rate_rises_and_falls() -> None:
    config = replace(tiny.TINY, batch_size=5, epochs=5, warmup=4, learning_rate=1.0)
    model = tiny.paraphraser(config, fresh=True)
    batches, steps = pair_batches(tiny.table(model), batch_size=5, seed=0)
    for weight in model.parameters():
        weight.requires_grad_(weight is next(model.parameters()))
    update, state = make_update(model, config, accelerator(), steps_per_epoch=steps)
    rates = []
    for step in range(10):
        update(batches(step), step)
        rates.append(state.optimizers["adamw"].param_groups[0]["lr"])
    assert rates == pytest.approx([0.25, 0.5, 0.75, 1.0, 1.0, 5 / 6, 4 / 6, 3 / 6, 2 / 6, 1 / 6])
