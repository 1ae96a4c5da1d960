"""One step of training against its own equations, and two processes against one."""

from __future__ import annotations

import copy
from dataclasses import replace
from types import ModuleType
from typing import Any

import pytest
import torch
from torch import Tensor

from paraform.losses.nt_xent import nt_xent
from paraform.models.exemplar import ExemplarConfig, make_update
from paraform.models.exemplar.batches import TripleBatch, by_length
from paraform.training import TrainingConfig, make_accelerator


@pytest.fixture(scope="module")
def accelerator() -> Any:
    return make_accelerator(TrainingConfig(device="cpu", tensorboard=False))


def first_batch(tiny: ModuleType) -> tuple[TripleBatch, int]:
    batches, steps = by_length(tiny.table(), batch_size=8, seed=0)
    return batches(0), steps


def loss_by_hand(model: Any, config: ExemplarConfig, batch: TripleBatch) -> dict[str, Tensor]:
    """Eq. 5 token by token, eqs. 6–11, and their weighted sum (eq. 12 with `contrastive_scale`)."""
    out = model.network(batch)
    per_sentence = [-part.mean() for part in torch.split(out.log_probs_N, out.lengths_B.tolist())]
    assert out.lengths_B.tolist() == [length + 1 for length in batch.target_lengths_B.tolist()]  # </s>
    nll = torch.stack(per_sentence)
    terms = {"nll": nll.sum() if config.nll_reduction == "sum" else nll.mean()}
    views = {"content": (out.source_content, out.target_content), "style": (out.exemplar_style, out.target_style)}
    for name, (first, second) in views.items():
        if getattr(config, f"{name}_weight"):
            terms[name] = nt_xent(
                first,
                second,
                temperature=config.temperature,
                similarity=config.similarity,
                reduction=config.contrastive_reduction,
                clusters=batch.clusters_B if config.mask_clusters else None,
            )
    weighted = [getattr(config, f"{name}_weight") * term for name, term in terms.items() if name != "nll"]
    return {"loss": terms["nll"] + config.contrastive_scale * sum(weighted), **terms}


@pytest.mark.parametrize("name", ["copying", "paper", "reference"])
@pytest.mark.parametrize("left_out", [{}, {"content": True}, {"style": True}, {"content": True, "style": True}])
def test_the_loss_and_the_step(name: str, left_out: dict[str, bool], tiny: ModuleType, accelerator: Any) -> None:
    """The terms are those by hand; the weights move as one Adam step on that loss moves them."""
    config = tiny.CONFIGS[name].without(**left_out)
    batch, steps = first_batch(tiny)
    model = tiny.paraphraser(config)
    by_hand = copy.deepcopy(model)
    update, state = make_update(model, config, accelerator, steps_per_epoch=steps)
    found = update(batch, 0)

    expected = loss_by_hand(by_hand, config, batch)
    names = ["loss", "nll", *(term for term in ("content", "style") if not left_out.get(term))]
    assert list(found) == [*names, "gradient_norm"]
    assert {term: found[term] for term in names} == pytest.approx(
        {term: value.item() for term, value in expected.items()}, rel=1e-5
    )
    expected["loss"].backward()
    rate = config.learning_rate  # ten steps in all are too few for a warm-up
    optimizer = torch.optim.Adam(by_hand.parameters(), lr=rate)
    norm = torch.nn.utils.clip_grad_norm_(by_hand.parameters(), config.clip_norm or float("inf"))
    assert found["gradient_norm"] == pytest.approx(norm.item(), rel=1e-4)
    optimizer.step()
    for ours, theirs in zip(model.parameters(), by_hand.parameters(), strict=True):
        torch.testing.assert_close(ours, theirs, rtol=1e-4, atol=1e-5)
    assert list(state.optimizers) == ["adam"]


def test_the_learning_rate(tiny: ModuleType, accelerator: Any) -> None:
    """Linear: up over a twentieth of the steps, then down to 0; constant otherwise."""
    batch, _ = first_batch(tiny)
    config = replace(tiny.COPYING, epochs=4, learning_rate=0.2)
    model = tiny.paraphraser(config)
    update, state = make_update(model, config, accelerator, steps_per_epoch=10)
    rates = []
    for step in (0, 1, 2, 21, 39):
        update(batch, step)
        rates.append(state.optimizers["adam"].param_groups[0]["lr"])
    assert rates == pytest.approx([0.1, 0.2, 0.2, 0.2 * 19 / 38, 0.2 / 38])
    update, state = make_update(model, replace(config, schedule="constant"), accelerator, steps_per_epoch=10)
    update(batch, 39)
    assert state.optimizers["adam"].param_groups[0]["lr"] == 0.2


def test_what_is_frozen_stays(tiny: ModuleType, accelerator: Any) -> None:
    batch, steps = first_batch(tiny)
    model = tiny.paraphraser(tiny.COPYING)
    model.network.content_encoder.requires_grad_(False)
    before = copy.deepcopy(model.state_dict())
    update, _ = make_update(model, tiny.COPYING, accelerator, steps_per_epoch=steps)
    update(batch, 1)
    moved = {name for name, tensor in model.state_dict().items() if not torch.equal(tensor, before[name])}
    assert moved == {name for name in before if not name.startswith("network.content_encoder.")}
