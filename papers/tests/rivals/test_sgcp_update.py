"""SGCP's step against plain torch; and ten pairs that come back."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import tiny_sgcp as tiny
import torch

from paraform.evaluation.bleu import bleu
from paraform.training import TrainingConfig, make_accelerator
from paraform_papers.rivals.sgcp import SgcpConfig, make_update


def begun(config: SgcpConfig) -> tuple[Any, Any, Any]:
    return tiny.begin(config, make_accelerator(TrainingConfig(device="cpu")))


def test_a_step_is_three_adams(monkeypatch: pytest.MonkeyPatch) -> None:
    """By torch, one of encoder, tree and decoder each, with its own clipping."""
    monkeypatch.setattr("paraform_papers.rivals.sgcp.update.CLIP_NORM", 0.1)
    config = replace(tiny.TINY, learning_rate=0.01, schedule="linear", epochs=1)
    model, update, batches = begun(config)
    other = tiny.paraphraser(config)
    network = other.network
    parts = dict(zip(("encoder", "tree", "decoder"), network.parts(), strict=True))
    optimizers = {name: torch.optim.Adam(part, lr=0.01) for name, part in parts.items()}
    model.train()
    other.train()
    for step, factor in enumerate([1, 4 / 5, 3 / 5, 2 / 5, 1 / 5]):
        batch = batches(step)
        terms = update(batch, step)
        nll, pop_nll = (-each.mean() for each in network(batch))
        network.zero_grad()
        (nll + pop_nll).backward()
        for name, part in parts.items():
            assert terms[f"{name}_gradient_norm"] == pytest.approx(
                float(torch.nn.utils.clip_grad_norm_(part, 0.1)), rel=1e-3
            )
        for optimizer in optimizers.values():
            optimizer.param_groups[0]["lr"] = 0.01 * factor
            optimizer.step()
        assert [terms["nll"], terms["pop_nll"]] == pytest.approx([nll.item(), pop_nll.item()], rel=1e-4)
        assert terms["loss"] == pytest.approx(terms["nll"] + terms["pop_nll"])
    for name, weight in network.state_dict().items():
        torch.testing.assert_close(model.network.state_dict()[name], weight, atol=1e-5, rtol=1e-4)


@pytest.mark.parametrize("name", ["paper", "compact"])
def test_ten_pairs_come_back_and_copying_does_not(name: str) -> None:
    """From the source and the target's tree, whole or cut below the phrases, greedily and by beam."""
    config = replace(
        tiny.CONFIGS[name], word_width=32, width=32, layers=1 + (name == "paper"), batch_size=10, learning_rate=0.01,
        schedule="constant",
    )  # fmt: skip
    model = tiny.paraphraser(config, fresh=True)
    table, draw = tiny.table(model), np.random.default_rng(0)
    update, _ = make_update(model, config, make_accelerator(TrainingConfig(device="cpu")), steps_per_epoch=1)
    model.train()
    for step in range(150):
        heights, forced = draw.integers(3, 8, 10), bool(draw.random() < 0.9)
        update(table.batch(table.source, table.target, heights, forced=forced), step)
    sources, targets = tiny.TEXTS[::2], tiny.TEXTS[1::2]
    trees = [tiny.parsed()[text] for text in targets]
    for how in ({}, {"beam": 4}, {"height": 3}):
        found = model.decode_trees(sources, trees, **how)  # type: ignore[arg-type]
        assert [text.lower() for text in found] == [target.replace(" ?", "?") for target in targets], how
    assert bleu(found, targets).value > bleu(sources, targets).value + 20
    best = model.decode_trees(sources, trees, height="best")  # of several heights, all of which say the target here
    assert [text.lower() for text in best] == [target.replace(" ?", "?") for target in targets]
