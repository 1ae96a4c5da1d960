"""ParaBART's step: which loss moves what, and that ten pairs come back."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import tiny_disentangled as tiny
import torch
from torch import Tensor

from paraform.losses.bag_of_constituents import bag_loss
from paraform.losses.nt_xent import nt_xent
from paraform.losses.similarity_distance import similarity_distance
from paraform.models.disentangled import DisentangledConfig, DisentangledParaphraser, make_update
from paraform.models.disentangled.pairs import PairBatch, PairTable, pair_batches
from paraform.training import TrainingConfig, make_accelerator

ALL = replace(tiny.TINY, contrast_weight=0.7, distance_weight=0.3, adversary_weight=0.5, role_negatives=1)


def full_table(config: DisentangledConfig) -> PairTable:
    """With further negatives and a start for the distance."""
    start = np.random.default_rng(0).standard_normal((8, 3)).astype(np.float32)
    return replace(tiny.table(config), negatives=np.array([[3], [-1], [0], [-1]]), start=start)


def begun(
    config: DisentangledConfig, table: PairTable | None = None, *, fresh: bool = False
) -> tuple[DisentangledParaphraser, Callable[[PairBatch, int], dict[str, float]], PairBatch]:
    model = tiny.paraphraser(config, fresh=fresh)
    for module in model.modules():
        if isinstance(module, torch.nn.Dropout):
            module.p = 0.0
        if isinstance(module, torch.nn.MultiheadAttention):
            module.dropout = 0.0
    batches, steps = pair_batches(tiny.table(config) if table is None else table, batch_size=4, seed=0)
    update, _ = make_update(model, config, make_accelerator(TrainingConfig(device="cpu")), steps_per_epoch=steps)
    return model, update, batches(0)


def weights(model: DisentangledParaphraser) -> dict[str, Tensor]:
    return {name: tensor.detach().clone() for name, tensor in model.state_dict().items()}


@pytest.mark.parametrize("kind", ["softmax", "sigmoid"])
@pytest.mark.parametrize(("directions", "fooled"), [("one", "loss"), ("both", "loss"), ("both", "prior")])
def test_the_terms_are_those_of_the_paper(directions: Any, fooled: Any, kind: Any) -> None:
    """w L_para − λ L_adv by the adversary after its own step, + NT-Xent + distance, each computed again.

    Fooled into its prior: + λ times what the mean bag, whatever the sentence's own is, costs under what it says.
    """
    rates = {"decoder_learning_rate": 0.0, "learning_rate": 1e-3}
    config = replace(ALL, adversary_loss=kind, directions=directions, fooled=fooled, **rates)
    model, update, batch = begun(config, full_table(config))
    assert model.adversary is not None
    prior = model.adversary.prior_C
    prior.copy_(torch.rand(len(prior), generator=torch.Generator().manual_seed(3)))
    prior /= prior.sum()
    out = model.network(batch)
    terms = update(batch, 0)
    both = directions == "both"
    vectors = torch.cat([out.source_BD, out.target_BD]) if both else out.source_BD
    bags = batch.source_tree.bags_BC
    bags = torch.cat([bags, batch.target_tree.bags_BC]) if both else bags
    assert out.target_BD is not None and out.negatives_ND is not None
    assert batch.negatives is not None and batch.start_RD is not None
    contrast = nt_xent(
        out.source_BD,
        out.target_BD,
        temperature=config.temperature,
        clusters=batch.source.clusters_B,
        negatives=out.negatives_ND,
        negative_clusters=batch.negatives.clusters_B,
    )
    distance = similarity_distance(torch.cat([out.source_BD, out.target_BD]), batch.start_RD)
    said = model.adversary(vectors)  # it has made its step
    told, mean = bag_loss(said, bags, kind=kind), bag_loss(said, prior.repeat(len(said), 1), kind=kind)
    means = [(one.nll / one.pieces).item() for one in out.written]
    assert len(means) == (2 if both else 1)
    assert terms["generation"] == pytest.approx(sum(means) / len(means), rel=1e-5)
    assert terms["contrast"] == pytest.approx(contrast.item(), rel=1e-5)
    assert terms["distance"] == pytest.approx(distance.item(), rel=1e-5)
    assert told.item() < terms["adversary"]
    loss = terms["generation"] + 0.7 * contrast + 0.3 * distance + 0.5 * (mean if fooled == "prior" else -told)
    assert terms["loss"] == pytest.approx(loss.item(), rel=1e-5)


def test_the_adversary_s_step_moves_it_alone_and_the_rest_moves_all_else() -> None:
    config = replace(tiny.TINY, learning_rate=0.0, decoder_learning_rate=0.0)
    model, update, batch = begun(config)
    before = weights(model)
    update(batch, 0)
    assert all(torch.equal(tensor, before[name]) for name, tensor in weights(model).items())
    model, update, batch = begun(replace(config, learning_rate=1e-2))
    before = weights(model)
    update(batch, 0)
    moved = {name for name, tensor in weights(model).items() if not torch.equal(tensor, before[name])}
    assert {name.split(".")[0] for name in moved} == {"network", "adversary"}
    assert {".".join(name.split(".")[:2]) for name in moved if name.startswith("network")} == {"network.semantic"}


def test_the_encoder_fools_it_from_the_named_epoch_on() -> None:
    """Steps of one batch an epoch: before, the loss has no such term; from then on it has."""
    config = replace(tiny.TINY, adversary_start=1)
    _, update, batch = begun(config)
    first, second = update(batch, 0), update(batch, 1)
    assert first["loss"] == pytest.approx(first["generation"], rel=1e-6)
    assert second["loss"] < second["generation"] - 0.01


def test_the_rate_falls_on_a_line_if_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("paraform.models.disentangled.update.WEIGHT_DECAY", 0.0)
    config = replace(tiny.TINY, schedule="linear", epochs=40, adversary_weight=0.0)
    model, update, batch = begun(config)
    assert model.adversary is None
    steps = []
    for step in (0, 2, 39):
        before = weights(model)
        update(batch, step)
        steps.append(max((tensor - before[name]).abs().max().item() for name, tensor in weights(model).items()))
    assert steps[2] < steps[1] / 5


def test_rates_weight_decay_and_the_largest_gradient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Encoder and adversary at one rate, all else at the other (section 4.1)."""
    monkeypatch.setattr("paraform.models.disentangled.update.CLIP_NORM", 1e-3)
    config = replace(tiny.TINY, learning_rate=1e-3, decoder_learning_rate=2e-3, adversary_start=1)
    model = tiny.paraphraser(config)
    batches, steps = pair_batches(tiny.table(config), batch_size=4, seed=0)
    accelerator = make_accelerator(TrainingConfig(device="cpu"))
    update, state = make_update(model, config, accelerator, steps_per_epoch=steps)
    assert model.adversary is not None
    rates = {
        id(weight): group["lr"]
        for optimizer in state.optimizers.values()
        for group in optimizer.param_groups
        for weight in group["params"]
        if group["weight_decay"] == 0.01
    }
    slow = {id(weight) for part in (model.network.semantic, model.adversary) for weight in part.parameters()}
    used = {id(weight) for weight in model.parameters() if weight.requires_grad}
    assert rates == {name: 1e-3 if name in slow else 2e-3 for name in used}
    assert update(batches(0), 0)["gradient_norm"] > 1e-3
    grads = [weight.grad.norm() for weight in model.network.parameters() if weight.grad is not None]
    assert torch.stack(grads).norm().item() == pytest.approx(1e-3, rel=1e-2)


def test_fooling_leaves_no_gradient_on_the_adversary() -> None:
    """What its weights hold after a step is its own loss's gradient, alone (REFERENCE, ParaBART 5)."""
    config = replace(tiny.TINY, adversary_weight=100.0, learning_rate=0.0, decoder_learning_rate=0.0)
    model, update, batch = begun(config)
    assert model.adversary is not None
    out = model.network(batch)
    assert out.target_BD is not None
    vectors_BD = torch.cat([out.source_BD, out.target_BD]).detach()
    bags_BC = torch.cat([batch.source_tree.bags_BC, batch.target_tree.bags_BC])
    weight = model.adversary.linear.weight
    (expected,) = torch.autograd.grad(bag_loss(model.adversary(vectors_BD), bags_BC), weight)
    norms = [update(batch, step)["gradient_norm"] for step in range(2)]
    assert norms[0] == pytest.approx(norms[1])  # nor does a step leave one for the next
    assert weight.grad is not None
    torch.testing.assert_close(weight.grad, expected)


def test_pairs_come_back() -> None:
    """Overfitted, each source is said as its target by that one's tree, and each target as its source."""
    rates = {"learning_rate": 3e-3, "decoder_learning_rate": 5e-3}
    model, update, batch = begun(replace(tiny.TINY, **rates, adversary_weight=0.01, brackets=False), fresh=True)
    for embedding in (model.network.semantic.embeddings.word_embeddings, model.network.target_embedding):
        torch.nn.init.normal_(embedding.weight, std=0.5)  # the usual 0.02 is for hundreds of features
    model.train()
    for step in range(400):
        if update(batch, step)["generation"] < 0.06:
            break
    sources, targets = [pair.source.text for pair in tiny.PAIRS], [pair.target.text for pair in tiny.PAIRS]
    said = model.decode_trees(sources, [tiny.parsed()[text] for text in targets])
    assert [text.lower().replace("?", " ?") for text in said] == targets
    beam = model.decode_trees(targets, [tiny.parsed()[text] for text in sources], beam=3)
    assert [text.lower().replace("?", " ?") for text in beam] == sources
