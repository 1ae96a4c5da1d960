"""One step against the equation, by a loop over shared words; and what training a few pairs comes to."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import tiny_retrofit as tiny
import torch
from test_retrofit_network import word_by_loop

from paraform.models.retrofit import RetrofitConfig, make_update
from paraform.models.retrofit.contexts import context_batches
from paraform.training import TrainingConfig, make_accelerator


@pytest.mark.parametrize("reduction", ["sum", "mean"])
@pytest.mark.parametrize("orthogonality", ["penalty", "free"])
def test_a_step_by_the_equation(reduction: str, orthogonality: str) -> None:
    """L = Σ [d + γ − d̂]₊ + λ ‖I − MᵀM‖_F, and M − 0.005 ∂L/∂M after it (SGD)."""
    config = replace(
        RetrofitConfig.paper(), **tiny.COMMON, states="last", hinge_reduction=reduction, orthogonality=orthogonality
    )
    model, table = tiny.retrofitted(config), tiny.table()
    model.network.margin.fill_(0.7)
    batches, _ = context_batches(table, batch_size=4, negatives="substitute", seed=0)
    batch = batches(0)
    with torch.no_grad():
        near, far = model.network(batch)
    hinges = [max(0.0, float(d) + 0.7 - float(other)) for d, other in zip(near, far, strict=True)]
    hinge = sum(hinges) if reduction == "sum" else float(np.mean(hinges))
    m = model.matrix.double().numpy()
    penalty = float(np.sqrt(np.square(np.eye(tiny.WIDTH) - m.T @ m).sum()))
    before = model.matrix.clone()
    update, state = make_update(model, config, make_accelerator(TrainingConfig(device="cpu")))
    terms = update(batch, 0)
    assert terms["hinge"] == pytest.approx(hinge, rel=1e-4) and terms["orthogonality"] == pytest.approx(
        penalty, rel=1e-4
    )
    assert terms["loss"] == pytest.approx(hinge + penalty if orthogonality == "penalty" else hinge, rel=1e-4)
    assert (terms["paraphrased"], terms["other"]) == pytest.approx((float(near.mean()), float(far.mean())), rel=1e-4)
    weight = model.network.transform.weight
    assert weight.grad is not None and list(state.optimizers) == ["sgd"]
    torch.testing.assert_close(weight.detach(), before - 0.005 * weight.grad)
    # the margin of the state is the network's, and words of the loop are those of the batch
    first = int(table.source_W[0])
    assert word_by_loop(model, first).shape == (tiny.WIDTH,)


def test_a_negative_counts_for_no_more_than_it_was_off_at_the_start() -> None:
    """[d + γ − min(d̂, d̂₀)]₊, d̂₀ by the encoder without M; where d̂ is beyond d̂₀ it has no gradient."""
    config = replace(tiny.TINY, orthogonality="free", push="start")
    model, plain = tiny.retrofitted(config), tiny.table()
    model.network.margin.fill_(5.0)
    batches, _ = context_batches(model.network.known(plain), batch_size=4, negatives="substitute", seed=0)
    batch = batches(0)
    with pytest.raises(ValueError, match="expected one of a table that `known` gave"):
        model.network.other_at_start(context_batches(plain, batch_size=4, negatives="substitute", seed=0)[0](0))
    with torch.no_grad():
        start = tiny.retrofitted(config, shaken=0.0).network(batch).other_W
    near, far = model.network(batch)
    beyond = far > start
    assert beyond.any() and not beyond.all()
    hinge = (near + 5.0 - torch.where(beyond, start, far)).clamp_min(0).mean()
    (expected,) = torch.autograd.grad(hinge, model.network.transform.weight)
    update, _ = make_update(model, config, make_accelerator(TrainingConfig(device="cpu")))
    terms = update(batch, 0)
    assert terms["hinge"] == pytest.approx(hinge.item(), rel=1e-5)
    assert model.network.transform.weight.grad is not None
    torch.testing.assert_close(model.network.transform.weight.grad, expected)


@pytest.mark.parametrize("orthogonality", ["penalty", "exact"])
def test_trained_on_a_few_pairs_paraphrases_come_nearer_than_others(orthogonality: str) -> None:
    """The ratio of all shared words' mean distances, with the same negatives before and after."""
    config = replace(
        tiny.TINY, orthogonality=orthogonality, orthogonality_weight=0.02, learning_rate=0.01, push="further"
    )
    model, table = tiny.retrofitted(config, shaken=0.0), tiny.table()
    every = np.arange(len(table.source_W))
    whole = table.batch(every, *table.negatives(every, "substitute", np.random.default_rng(9)))

    def ratio() -> float:
        with torch.no_grad():
            near, far = model.network(whole)
        return float(near.mean() / far.mean())

    before = ratio()
    model.network.margin.fill_(0.5)
    batches, _ = context_batches(table, batch_size=4, negatives="substitute", seed=0)
    update, state = make_update(model, config, make_accelerator(TrainingConfig(device="cpu")))
    for step in range(100):
        update(batches(step), step)
    assert ratio() < 0.9 * before and list(state.optimizers) == ["adam"]
    m = model.matrix
    apart = float((m.T @ m - torch.eye(tiny.WIDTH)).square().sum().sqrt())
    assert orthogonality == "penalty" or apart < 1e-4
