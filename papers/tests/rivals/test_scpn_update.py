"""SCPN's step: each network moves as it would alone; ten pairs come back, which copying never does."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
import tiny_scpn as tiny
import torch

from paraform.evaluation.bleu import bleu
from paraform.syntax.trees import template
from paraform.training import TrainingConfig, make_accelerator
from paraform_papers.rivals.scpn import ScpnConfig, make_update


def begun(config: ScpnConfig) -> tuple[Any, Any, Any]:
    return tiny.begin(config, make_accelerator(TrainingConfig(device="cpu")))


@pytest.mark.parametrize("schedule", ["constant", "linear"])
def test_each_network_moves_as_it_would_alone(schedule: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Adam by torch on either loss by itself, with its own clipping, at the schedule's rate; terms are means."""
    monkeypatch.setattr("paraform_papers.rivals.scpn.update.CLIP_NORM", 0.1)
    config = replace(tiny.TINY, schedule=schedule, learning_rate=0.01, epochs=3)
    model, update, batches = begun(config)
    other = tiny.paraphraser(config)
    parts = {"paraphraser": other.network.paraphraser, "generator": other.network.generator}
    optimizers = {name: torch.optim.Adam(part.parameters(), lr=0.01) for name, part in parts.items()}
    steps = 2  # of 10 pairs in batches of 4
    factors = {
        "constant": [1.0] * 6,
        "linear": [1, 5 / 6, 4 / 6, 3 / 6, 2 / 6, 1 / 6],
    }
    model.train()
    other.train()
    for step in range(3 * steps):
        batch = batches(step)
        terms = update(batch, step)
        losses = [-written.log_probs_N.mean() for written in other.network(batch)]
        for name, loss in zip(parts, losses, strict=True):
            optimizer = optimizers[name]
            optimizer.param_groups[0]["lr"] = 0.01 * factors[schedule][step]
            optimizer.zero_grad()
            loss.backward()
            torch.nn.utils.clip_grad_norm_(parts[name].parameters(), 0.1)
            optimizer.step()
        assert [terms["nll"], terms["parse_nll"]] == pytest.approx([loss.item() for loss in losses], rel=1e-4)
        assert terms["loss"] == pytest.approx(terms["nll"] + terms["parse_nll"])
    for name, weight in other.state_dict().items():
        torch.testing.assert_close(model.state_dict()[name], weight, atol=1e-5, rtol=1e-4)


@pytest.mark.parametrize("name", ["paper", "compact"])
def test_ten_pairs_come_back_and_copying_does_not(name: str) -> None:
    """From the source and the target's template alone, greedy and by beam; and from the whole parse."""
    widths = dict.fromkeys(tiny.WIDTHS, 32)
    config = replace(tiny.CONFIGS[name], **widths, batch_size=10, learning_rate=0.01, schedule="constant")
    model = tiny.paraphraser(config, fresh=True)
    table = tiny.table(model)
    update, _ = make_update(model, config, make_accelerator(TrainingConfig(device="cpu")), steps_per_epoch=1)
    model.train()
    for step in range(90):
        update(table.batch(table.source, table.target), step)
    sources, targets = tiny.TEXTS[::2], tiny.TEXTS[1::2]
    own, trees = ([tiny.parsed()[text] for text in texts] for texts in (sources, targets))
    templates = [template(tree, 3) for tree in trees]
    for how in ({}, {"beam": 4}):
        found = model.decode_trees(sources, templates, source_trees=own, **how)
        assert [text.lower() for text in found] == [target.replace(" ?", "?") for target in targets]
    assert [text.lower() for text in model.decode_trees(sources, trees, source_trees=own)] == [
        target.replace(" ?", "?") for target in targets
    ]
    assert bleu(found, targets).value > bleu(sources, targets).value + 20
