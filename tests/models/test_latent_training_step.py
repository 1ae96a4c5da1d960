"""What is random in a step, what weighs in its loss, how long its gradient is, and where a critic's does not go.

Shape key: R rows, T words, H features of a state, Z latent.
"""

from __future__ import annotations

import dataclasses
import math
from typing import Any

import pytest
import torch
from torch import Tensor

from paraform.batching import BOS, SentenceBatch, Vocabulary
from paraform.models.latent import LatentConfig, LatentLanguageModel, make_update, update
from paraform.models.latent.critic import Critics
from paraform.training import TrainingConfig, make_accelerator

WORDS = torch.tensor([[4, 5, 6], [6, 4, 0]])
BATCH = SentenceBatch(WORDS, torch.tensor([3, 2]))
TINY: dict[str, Any] = {
    "word_width": 16, "hidden_width": 32, "latent_width": 3, "critic_width": 8, "batch_size": 2,
    "encoder_dropout": 0.0, "decoder_dropout": 0.0, "initial_range": 0.5, "beta_schedule": "constant",
}  # fmt: skip


def made(objective: str = "clvae+_mi", **fields: Any) -> LatentLanguageModel:
    config = dataclasses.replace(LatentConfig().with_objective(objective), **{**TINY, **fields})
    torch.manual_seed(0)
    return LatentLanguageModel(config, Vocabulary.build([["a", "b", "c"]], min_count=1)).train()


def encoded(model: LatentLanguageModel, rows: int) -> Tensor:
    """States [R, H] of the first sentence, so many times."""
    state_RH: Tensor = model.network.encoder(WORDS[:1].expand(rows, -1), torch.full((rows,), 3))
    return state_RH.detach()


def decoded(model: LatentLanguageModel, rows: int) -> Tensor:
    """States [R, H] after the first sentence's last word, all from one z."""
    inputs_RT = torch.tensor([[BOS, 4, 5, 6]]).expand(rows, -1)
    states_RTH: Tensor = model.network.decoder(inputs_RT, torch.ones(rows, 3))
    return states_RTH[:, -1].detach()


HALVES = [("encoder_dropout", encoded), ("decoder_dropout", decoded)]


@pytest.mark.parametrize(("name", "states_of"), HALVES)
def test_dropout_takes_its_share_of_the_states_and_of_what_they_are_made_of(name: str, states_of: Any) -> None:
    dropouts: dict[str, Any] = {name: 0.4}
    states_RH = states_of(made(**dropouts), 400)
    dropped_RH = states_RH == 0
    assert float(dropped_RH.float().mean()) == pytest.approx(0.4, abs=0.02)
    for row_R, gone_R in zip(states_RH.T, dropped_RH.T, strict=True):
        assert float(row_R[~gone_R].std()) > 1e-3  # no state of one value: it is made of dropped features


def test_dropout_of_the_embedding_alone_leaves_the_last_state_whole() -> None:
    """One word, whose features are 1, seen through the network as it would be by itself."""
    model = made(encoder_dropout=0.4, encoder_dropout_on="embedding")
    states_RH = encoded(model, 400)
    assert bool(states_RH.all()) and float(states_RH.std(0).min()) > 1e-3  # though what it is made of is dropped
    seen: list[Tensor] = []
    model.network.encoder.lstm.register_forward_pre_hook(lambda _, given: seen.append(given[0]))
    torch.nn.init.ones_(model.network.encoder.embedding.weight)
    encoded(model, 400)
    assert seen[0].unique().tolist() == pytest.approx([0, 1 / 0.6], rel=1e-4)
    assert float((seen[0] == 0).float().mean()) == pytest.approx(0.4, abs=0.02)


def test_an_encoder_without_views_to_make_drops_what_is_plain() -> None:
    for model in (made("vae", encoder_dropout=0.4), made(plain_dropout=0.4)):
        assert bool(encoded(model, 400).all())
    for fields in ({"objective": "vae"}, {"positives": "swap"}):
        model = made(**fields, encoder_dropout=0.1, plain_dropout=0.4)
        assert float((encoded(model, 400) == 0).float().mean()) == pytest.approx(0.4, abs=0.02)


@pytest.mark.parametrize(("name", "states_of"), HALVES)
def test_nothing_is_random_without_dropout_or_outside_training(name: str, states_of: Any) -> None:
    own: dict[str, Any] = {name: 0.4}
    other: dict[str, Any] = {half: 0.4 for half, _ in HALVES if half != name}
    for model in (made(**other), made(**own).eval()):
        states_RH = states_of(model, 2)
        torch.testing.assert_close(states_RH[0], states_RH[1])
        assert bool(states_RH.all())


def test_the_views_of_a_sentence_differ_by_the_encoders_dropout_alone() -> None:
    """With one noise for both; equal views have equal reconstructions but for the decoder's dropout."""
    for of_encoder, of_decoder in ((0.0, 0.0), (0.4, 0.0), (0.0, 0.4)):
        model = made(encoder_dropout=of_encoder, decoder_dropout=of_decoder)
        with torch.no_grad():
            out = model.network(BATCH.repeated(2), torch.randn(2, 3).repeat(2, 1))
        apart = [float((values[:2] - values[2:]).abs().max()) for values in (out.z_RZ, out.reconstruction_R)]
        assert [distance > 1e-4 for distance in apart] == [of_encoder > 0, of_encoder + of_decoder > 0]


def stepper(model: LatentLanguageModel) -> Any:
    accelerator = make_accelerator(TrainingConfig(device="cpu"))
    return make_update(model, model.config, accelerator, draw=lambda count: [BATCH] * count, steps_per_epoch=1)[0]


def updated(model: LatentLanguageModel) -> dict[str, float]:
    """One step's figures; its gradients stay."""
    step = stepper(model)
    torch.manual_seed(1)
    figures: dict[str, float] = step(BATCH, 0)
    return figures


@pytest.mark.parametrize("weight", [0.0, 0.5, 3.0])
@pytest.mark.parametrize("objective", ["vae+contrast", "clvae+_mi"])
def test_the_contrast_weighs_what_it_is_told(objective: str, weight: float) -> None:
    plain = updated(made(objective, contrast_weight=0.0))
    found = updated(made(objective, contrast_weight=weight))
    assert found["contrast"] == plain["contrast"] > 0.1
    assert found["loss"] == pytest.approx(plain["loss"] + weight * plain["contrast"], rel=1e-5)
    if objective == "vae+contrast":  # two views of each sentence, β = 1
        terms = 2 * found["reconstruction"] + 2 * found["kl"] + weight * found["contrast"]
        assert found["loss"] == pytest.approx(terms, rel=1e-5)


def gradient_norm(network: torch.nn.Module) -> float:
    squares = [weight.grad.square().sum() for weight in network.parameters() if weight.grad is not None]
    return float(torch.stack(squares).sum().sqrt())


@pytest.mark.parametrize("objective", ["vae", "savae", "clvae+_mi"])
def test_a_gradient_is_cut_to_the_largest_norm_and_a_shorter_one_is_not(
    objective: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    free, cut = made(objective, svi_steps=2), made(objective, svi_steps=2)
    monkeypatch.setattr(update, "CLIP_NORM", 1e6)
    whole = updated(free)["gradient_norm"]
    monkeypatch.setattr(update, "CLIP_NORM", 0.01)
    assert whole > 0.1 and gradient_norm(free.network) == pytest.approx(whole, rel=1e-4)
    assert updated(cut)["gradient_norm"] == pytest.approx(whole, rel=1e-4)  # as it was before
    assert gradient_norm(cut.network) == pytest.approx(0.01, rel=1e-3)


@pytest.mark.parametrize(("objective", "apart"), [("vae", False), ("ivae", True), ("clvae+_mi", True)])
def test_encoder_and_decoder_are_cut_apart_where_there_is_a_critic(
    objective: str, apart: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(update, "CLIP_NORM", 1e6)
    whole = updated(made(objective, clipping="apart"))["gradient_norm"]
    monkeypatch.setattr(update, "CLIP_NORM", 0.01)
    model = made(objective, clipping="apart")
    assert updated(model)["gradient_norm"] == pytest.approx(whole, rel=1e-4)
    parts = model.network.encoder, model.network.posterior, model.network.decoder, model.network.output
    encoder, posterior, decoder, output = (gradient_norm(part) for part in parts)
    norms = [math.hypot(encoder, posterior), math.hypot(decoder, output)]
    if apart:
        assert norms == pytest.approx([0.01, 0.01], rel=1e-3)
    else:
        assert math.hypot(*norms) == pytest.approx(0.01, rel=1e-3)


def test_lagvae_cuts_the_gradient_of_its_encoder_too(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(update, "CLIP_NORM", 0.01)
    monkeypatch.setattr(update, "MOST_ALONE", 2)
    model = made("lagvae")
    assert stepper(model)._catch_up(BATCH, 1.0) == 1
    assert gradient_norm(model.network) == pytest.approx(0.01, rel=1e-3)


def test_a_critic_s_gradient_goes_to_z_and_not_to_the_state() -> None:
    critics = Critics(LatentConfig(**TINY))
    state = torch.randn(4, 32, requires_grad=True)
    z = torch.randn(4, 3, requires_grad=True)
    for value in critics(state, z):
        to_state, to_z = torch.autograd.grad(value.sum(), [state, z], allow_unused=True)
        assert to_state is None or not to_state.any()
        assert to_z.abs().min() > 0
    moved = critics(state + 1, z)
    assert not torch.equal(moved[0], critics(state, z)[0])  # though f depends on it
