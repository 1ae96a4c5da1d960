"""VGVAE's step by torch's own Adam; ten pairs come back, which copying never does; and negatives are told apart."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import tiny_vgvae as tiny
import torch

from paraform.evaluation.bleu import bleu
from paraform.training import TrainingConfig, make_accelerator
from paraform_papers.rivals.vgvae import VgvaeConfig, make_update
from paraform_papers.rivals.vgvae.batches import megabatches, picked
from paraform_papers.rivals.vgvae.posterior import Noise


def begun(config: VgvaeConfig) -> tuple[Any, Any, Any]:
    return tiny.begin(config, make_accelerator(TrainingConfig(device="cpu")))


def test_a_step_is_adams_on_the_sum_of_the_losses(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of KL weights that are larger than the paper's, whose share of a loss would not be seen."""
    monkeypatch.setattr("paraform_papers.rivals.vgvae.update.SEMANTIC_KL", 0.2)
    monkeypatch.setattr("paraform_papers.rivals.vgvae.update.SYNTAX_KL", 0.3)
    config = replace(tiny.TINY, position_weight=0.4, learning_rate=0.01, clip_norm=0.5)
    model, update, batches = begun(config)
    other = tiny.model_of(config)
    adam = torch.optim.Adam(other.network.parameters(), lr=0.01)
    for step in range(3):
        batch = batches(step)
        terms = update(batch, step)
        noise = Noise(torch.Generator().manual_seed(batch.seed), 8)
        out = other.network(batch.sentences, batch.read, 4, noise)
        loss = (
            out.nll_B + out.crossed_B + 0.2 * out.semantic_kl_B + 0.3 * out.syntax_kl_B + 0.4 * out.position_B
        ).sum() / 4
        assert terms["loss"] == pytest.approx(loss.item(), rel=1e-4)
        assert terms["nll"] == pytest.approx(out.nll_B.mean().item(), rel=1e-4)
        adam.zero_grad()
        loss.backward()
        norm = torch.nn.utils.clip_grad_norm_(other.network.parameters(), 0.5)
        assert terms["gradient_norm"] == pytest.approx(norm.item(), rel=1e-3)
        adam.step()
    for name, weight in other.state_dict().items():
        torch.testing.assert_close(model.state_dict()[name], weight, atol=1e-5, rtol=1e-4)


def test_a_megabatch_learns_from_its_hardest_negatives() -> None:
    """The nearest of another cluster and the other side, by brute force; its own losses count as well."""
    config = replace(tiny.CONFIGS["averages"], learning_rate=0.0, discriminative_start=1)
    model, update, batches = begun(config)
    batch = batches(0)
    found = update(batch, 0)
    vectors = model.network.semantic(batch.sentences).direction_BM.detach()
    pairs = len(batch.clusters_M)
    assert found["batches"] == 2 and pairs == 8
    negative = []
    for row in range(2 * pairs):
        others = range(pairs, 2 * pairs) if row < pairs else range(pairs)
        allowed = [at for at in others if batch.clusters_M[at % pairs] != batch.clusters_M[row % pairs]]
        negative.append(max(allowed, key=lambda at: float(vectors[row] @ vectors[at])))
    expected, hinges = [], []
    for number, start in enumerate((0, 4)):
        rows = torch.tensor([*range(start, start + 4), *range(start + pairs, start + pairs + 4)])
        rows = torch.cat([rows, torch.tensor([negative[row] for row in rows])])
        noise = Noise(torch.Generator().manual_seed((batch.seed + number) % 2**62), 16)
        out = model.network(picked(batch.sentences, rows), picked(batch.read, rows), 4, noise)
        own = out.nll_B + 1e-4 * out.semantic_kl_B + 1e-3 * out.syntax_kl_B + out.position_B + out.crossed_B
        cosines = [
            vectors[row] @ vectors[(row + pairs) % (2 * pairs)] - vectors[row] @ vectors[negative[row]]
            for row in rows[:8]
        ]
        hinge = sum(max(0.0, 0.4 - float(one)) for one in cosines)
        expected.append((own.sum().item() + hinge) / 4)
        hinges.append(hinge / 8)
    assert found["loss"] == pytest.approx(np.mean(expected), rel=1e-4)
    assert found["discriminative"] == pytest.approx(np.mean(hinges), rel=1e-4)


def test_of_one_cluster_there_is_no_negative() -> None:
    config = replace(tiny.CONFIGS["averages"], discriminative_start=1)
    model = tiny.model_of(config)
    pairs = [replace(pair, cluster=0) for pair in tiny.PAIRS]
    batches, _ = megabatches(tiny.table(model, pairs), config, seed=0)
    update, _ = make_update(model, config, make_accelerator(TrainingConfig(device="cpu")))
    assert update(batches(0), 0)["discriminative"] == 0


@pytest.mark.parametrize("name", ["paper", "no codes"])
def test_ten_pairs_come_back_and_copying_does_not(name: str) -> None:
    """What the source says in the target's own form is the target, greedily and by a beam; a copied source is not."""
    widths = {"word_width": 32, "semantic_width": 16, "syntax_width": 16, "hidden_width": 32, "encoder_width": 16}
    config = replace(tiny.CONFIGS[name], **widths, decoder_width=48, batch_size=10, learning_rate=0.01)
    model = tiny.model_of(config, fresh=True)
    batches, _ = megabatches(tiny.table(model), replace(config, epochs=500), seed=0)
    update, _ = make_update(model, config, make_accelerator(TrainingConfig(device="cpu")))
    model.train()
    first = update(batches(0), 0)
    for step in range(1, 300):
        last = update(batches(step), step)
    assert last["loss"] < first["loss"] / 3
    sources, targets = tiny.TEXTS[::2], tiny.TEXTS[1::2]
    for how in ({}, {"beam": 4}):
        found = [text.lower() for text in model.decode(sources, targets, **how)]
        assert sum(one == other.replace(" ?", "?") for one, other in zip(found, targets, strict=True)) >= 9
    assert bleu(found, targets).value > bleu(sources, targets).value + 20
    own = [text.lower() for text in model.reconstruct(sources)]
    assert sum(one == other for one, other in zip(own, sources, strict=True)) >= 9


def test_a_bag_learns_which_sentences_say_the_same() -> None:
    widths = {"word_width": 16, "semantic_width": 16, "hidden_width": 32}
    config = replace(tiny.CONFIGS["averages"], **widths, batch_size=10, learning_rate=0.01, discriminative_start=1)
    model = tiny.model_of(config, fresh=True)
    batches, _ = megabatches(tiny.table(model), replace(config, epochs=300), seed=0)
    update, _ = make_update(model, config, make_accelerator(TrainingConfig(device="cpu")))
    model.train()
    first = update(batches(0), 0)
    for step in range(1, 100):
        last = update(batches(step), step)
    assert last["nll"] < first["nll"] - 0.5 and last["discriminative"] < 0.05
    source, target = model.content(tiny.TEXTS[::2]), model.content(tiny.TEXTS[1::2])
    assert (source @ target.T).argmax(1).tolist() == list(range(10))
