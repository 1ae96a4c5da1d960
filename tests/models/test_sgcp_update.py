"""SGCP's step against plain torch; and ten pairs that come back."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
import tiny_sgcp as tiny
import torch

from paraform.evaluation.bleu import bleu
from paraform.training import TrainingConfig, make_accelerator
from paraform_papers.rivals.sgcp import SgcpConfig, make_update


def begun(config: SgcpConfig) -> tuple[Any, Any, Any]:
    return tiny.begin(config, make_accelerator(TrainingConfig(device="cpu")))


@pytest.mark.parametrize("double", [False, True])
def test_a_step_is_three_adams(double: bool) -> None:
    """By torch, each with its own clipping; where updates are doubled the embedding moves by two of them."""
    config = replace(
        tiny.TINY, double_updates=double, learning_rate=0.01, clip_norm=0.1, schedule="linear", pop_weight=0.5, epochs=1
    )
    model, update, batches = begun(config)
    other = tiny.paraphraser(config)
    network = other.network
    embedding = network.embedding.weight
    parts = {
        "encoder": [embedding, *network.encoder.parameters()],
        "tree": [*network.tree.parameters(), *([embedding] if double else [])],
        "decoder": [
            weight
            for name, weight in network.named_parameters()
            if name.split(".")[0] not in ("embedding", "encoder", "tree")
        ],
    }
    optimizers = {name: torch.optim.Adam(part, lr=0.01) for name, part in parts.items()}
    model.train()
    other.train()
    for step, factor in enumerate([1, 4 / 5, 3 / 5, 2 / 5, 1 / 5]):
        batch = batches(step)
        terms = update(batch, step)
        nll, pop_nll = (-each.mean() for each in network(batch))
        network.zero_grad()
        (nll + 0.5 * pop_nll).backward()
        for name, part in parts.items():
            assert terms[f"{name}_gradient_norm"] == pytest.approx(
                float(torch.nn.utils.clip_grad_norm_(part, 0.1)), rel=1e-3
            )
        for optimizer in optimizers.values():
            optimizer.param_groups[0]["lr"] = 0.01 * factor
            optimizer.step()
        assert [terms["nll"], terms["pop_nll"]] == pytest.approx([nll.item(), pop_nll.item()], rel=1e-4)
        assert terms["loss"] == pytest.approx(terms["nll"] + 0.5 * terms["pop_nll"])
    for name, weight in network.state_dict().items():
        torch.testing.assert_close(model.network.state_dict()[name], weight, atol=1e-5, rtol=1e-4)


@pytest.mark.parametrize("name", ["paper", "reference", "compact"])
def test_ten_pairs_come_back_and_copying_does_not(name: str) -> None:
    """From the source and the target's tree, whole or cut below the phrases, greedily and by beam.

    Where GELU has no slope, a gate that goes there stays, and half of the probability is copied for good: with one word
    to copy no other can be likelier, so that the code's gate is tried on sources of several.
    """
    config = replace(
        tiny.CONFIGS[name], word_width=32, width=32, layers=1 + (name == "paper"), batch_size=10, learning_rate=0.01,
        schedule="constant", both_directions=False, teacher_forcing=0.9,
    )  # fmt: skip
    model = tiny.paraphraser(config, fresh=True)
    batches, steps = tiny.batches_of(model)
    update, _ = make_update(model, config, make_accelerator(TrainingConfig(device="cpu")), steps_per_epoch=steps)
    model.train()
    for step in range(150):
        update(batches(step), step)
    pairs = [(one, two) for one, two in zip(tiny.TEXTS[::2], tiny.TEXTS[1::2], strict=True)]
    pairs = [(one, two) for one, two in pairs if config.gate == "linear" or len(one.split()) > 1]
    sources, targets = (list(side) for side in zip(*pairs, strict=True))
    trees = [tiny.parsed()[text] for text in targets]
    for how in ({}, {"beam": 4}, {"height": 3}):
        found = model.decode_trees(sources, trees, **how)  # type: ignore[arg-type]
        assert [text.lower() for text in found] == [target.replace(" ?", "?") for target in targets], how
    assert bleu(found, targets).value > bleu(sources, targets).value + 20
    best = model.decode_trees(sources, trees, height="best")  # of several heights, all of which say the target here
    assert [text.lower() for text in best] == [target.replace(" ?", "?") for target in targets]
