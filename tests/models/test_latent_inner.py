"""SaVAE's steps of stochastic variational inference, and LagVAE's updates of its encoder alone."""

from __future__ import annotations

import dataclasses
import math
from typing import Any
from unittest import mock

import pytest
import torch
from ten_sentences import SENTENCES, TINY, batch_of, made, updater
from torch import Tensor

from paraform.batching import SentenceBatch
from paraform.models.latent import LatentConfig, make_update, svi, update
from paraform.training import TrainingConfig, make_accelerator


@pytest.mark.parametrize("clip", [1e9, 0.02])
@pytest.mark.parametrize(("beta", "steps", "momentum"), [(0.7, 3, 0.5), (0.3, 3, 0.0), (0.7, 1, 0.5), (0.7, 0, 0.5)])
def test_the_loss_of_savae_is_its_equation(
    beta: float, steps: int, momentum: float, clip: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    """All words are alike to the decoder, so that KL alone has a gradient: v ← m v + α g, λ ← λ − v, g cut to a norm.

    L = β / B Σ ½ (μ² + e^s − s − 1), of which a step's own loss is that at the last λ.
    """
    config = dataclasses.replace(LatentConfig(), **TINY).with_objective("savae")
    config = dataclasses.replace(config, beta=beta, beta_schedule="constant", svi_steps=steps)
    for name, value in (("RATE", 0.4), ("MOMENTUM", momentum), ("CLIP", clip)):
        monkeypatch.setattr(svi, name, value)
    model = made(config)
    torch.nn.init.zeros_(model.network.output.weight)
    batch = batch_of(model, SENTENCES[:3])
    begun = model.network.posterior.gaussian(model.network.encoder(batch.words_BT, batch.lengths_B))
    means, logs = ([value for row in part.tolist() for value in row] for part in begun)
    speed = [0.0] * 18
    for _ in range(steps):
        slopes = [beta / 3 * mean for mean in means] + [beta / 3 * 0.5 * (math.exp(s) - 1) for s in logs]
        norm = math.sqrt(sum(slope**2 for slope in slopes))
        speed = [momentum * v + 0.4 * min(1.0, clip / norm) * slope for v, slope in zip(speed, slopes, strict=True)]
        means = [mean - v for mean, v in zip(means, speed[:9], strict=True)]
        logs = [s - v for s, v in zip(logs, speed[9:], strict=True)]
    kl = sum(0.5 * (mean**2 + math.exp(s) - s - 1) for mean, s in zip(means, logs, strict=True)) / 3
    words = int(batch.lengths_B.sum()) + 3
    expected = {"kl": kl, "reconstruction": words * math.log(len(model.vocabulary)) / 3}
    expected["loss"] = expected["reconstruction"] + beta * kl
    found = updater(model, config)(batch, 3)
    assert {name: found[name] for name in expected} == pytest.approx(expected, rel=1e-4)


@pytest.mark.parametrize("name", ["savae", "lagvae"])
def test_what_cannot_be_kept_in_step_is_trained_in_one_process(name: str) -> None:
    config = dataclasses.replace(LatentConfig(), **TINY).with_objective(name)
    several = make_accelerator(TrainingConfig(device="cpu"))
    with (
        mock.patch.object(type(several), "num_processes", 2),
        pytest.raises(ValueError, match="several processes, which would not stay in step: train it in one"),
    ):
        make_update(made(config), config, several, draw=lambda count: [], steps_per_epoch=1)


@pytest.mark.parametrize("name", ["savae", "lagvae"])
def test_sgd_of_rate_1_takes_the_gradient_away(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(update, "CLIP_NORM", 0.01)
    config = dataclasses.replace(LatentConfig.paper(), **TINY).with_objective(name)
    model = made(config)
    before = {key: weight.detach().clone() for key, weight in model.network.named_parameters()}
    batch = batch_of(model, SENTENCES[:3])
    updater(model, config, draw=lambda count: [batch] * count)(batch, 3)
    moved = [(weight.detach() - before[key], weight.grad) for key, weight in model.network.named_parameters()]
    if name == "savae":  # one step of all weights; LagVAE's encoder takes many
        for change, gradient in moved:
            assert gradient is not None
            torch.testing.assert_close(change, -gradient, rtol=1e-3, atol=1e-6)
    assert sum(float(change.square().sum()) for change, _ in moved) ** 0.5 > 0.009


def test_savae_moves_encoder_and_decoder_as_the_whole_derivative_says(monkeypatch: pytest.MonkeyPatch) -> None:
    """The encoder's gradient through SVI against a difference of the loss at the refined posterior."""
    config = dataclasses.replace(LatentConfig(), **TINY).with_objective("savae")
    config = dataclasses.replace(config, beta_schedule="constant")
    monkeypatch.setattr(svi, "RATE", 0.3)
    monkeypatch.setattr(update, "CLIP_NORM", 1e9)
    model = made(config).double()
    batch = batch_of(model, SENTENCES[:3])
    step = updater(model, config)
    step.optimizers.clear()

    def loss() -> float:
        torch.manual_seed(7)
        return float(step._refined(batch, 0.9)["loss"].detach())

    loss()
    for weight in (model.network.encoder.lstm.weight_ih_l0, model.network.output.weight):
        assert weight.grad is not None
        along = torch.zeros_like(weight)
        along.view(-1)[int(weight.grad.abs().argmax())] = 1e-4
        slope = float(weight.grad.abs().max()) * math.copysign(1, float(weight.grad.flatten()[along.argmax()]))
        weight.data += along
        above = loss()
        weight.data -= 2 * along
        below = loss()
        weight.data += along
        assert (above - below) / 2e-4 == pytest.approx(slope, rel=1e-2)
        loss()


RISING = [5.0] * 15 + [4.0] * 15 + [4.5] * 15
FALLING = [float(loss) for loss in range(99, 0, -1)]


@pytest.mark.parametrize(("losses", "most", "updates"), [(RISING, 100, 45), (RISING[::-1], 100, 45), (FALLING, 40, 39)])
def test_lagvae_stops_when_the_loss_of_a_word_rises(
    losses: list[float], most: int, updates: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(update, "MOST_ALONE", most)
    config = dataclasses.replace(LatentConfig(), **TINY).with_objective("lagvae")
    model = made(config)
    short, long = batch_of(model, ["stop"] * 3), batch_of(model, [SENTENCES[5]] * 3)
    drawn: list[SentenceBatch] = [short]

    def draw(count: int) -> list[SentenceBatch]:
        drawn.append(long if len(drawn) % 2 else short)  # a long sentence's loss is no sign of anything
        return drawn[-1:]

    step = updater(model, config, draw=draw)

    def scripted(batch: SentenceBatch, beta: float) -> dict[str, Tensor]:
        return {"loss": torch.tensor(losses[len(drawn) - 1] * (float(batch.lengths_B[0]) + 1))}

    monkeypatch.setattr(step, "_plain", scripted)
    assert step._catch_up(short, 0.0) == updates


def test_lagvae_updates_its_encoder_alone_until_information_falls(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(update, "MOST_ALONE", 20)
    config = dataclasses.replace(LatentConfig(), **TINY).with_objective("lagvae")
    model = made(config)
    batch = batch_of(model, SENTENCES[:3])
    step = updater(model, config, draw=lambda count: [batch] * count)
    encoder, decoder = model.network.encoder.embedding.weight, model.network.output.weight

    def moved(call: Any) -> tuple[bool, bool]:
        before = encoder.detach().clone(), decoder.detach().clone()
        call()
        return not torch.equal(before[0], encoder), not torch.equal(before[1], decoder)

    assert moved(lambda: step._catch_up(batch, 0.0)) == (True, False)
    assert step(batch, 0)["encoder_updates"] >= 15
    step.on_validation({"mi": 1.0})
    assert step.behind
    step.on_validation({"mi": 0.9})
    assert step(batch, 1)["encoder_updates"] == 0 and moved(lambda: step(batch, 2)) == (True, True)
    with pytest.raises(ValueError, match="needs further batches"):
        updater(model, config)
