"""Every objective against a scalar recomputation of its equation, and each of them learns ten sentences by heart."""

from __future__ import annotations

import dataclasses
import math
from itertools import pairwise
from typing import Any

import pytest
import torch
from ten_sentences import SENTENCES, TINY, batch_of, made, updater
from torch import Tensor

from paraform.batching import BOS, EOS, SentenceBatch
from paraform.models.latent import OBJECTIVES, LatentConfig, LatentLanguageModel, svi, update
from paraform.models.latent.views import swapped


def scalar_reconstruction(model: LatentLanguageModel, batch: SentenceBatch, z: Tensor) -> list[float]:
    """−Σ_t ln p(x_t | x_<t, z), one sentence and one word at a time, through the step that decoding takes."""
    out = []
    for row in range(len(batch.words_BT)):
        words = [BOS, *batch.words_BT[row, : int(batch.lengths_B[row])].tolist(), EOS]
        memory, total = model.network.decoder.start(z[row : row + 1]), 0.0
        for before, after in pairwise(words):
            state, memory = model.network.decoder.step(memory, torch.tensor([before]))
            scores = model.network.output(state)[0]
            total -= float(scores[after].detach()) - float(scores.detach().logsumexp(0))
        out.append(total)
    return out


def cosine(one: Tensor, other: Tensor) -> float:
    return float((one @ other / (one.norm() * other.norm())).detach())


def softplus(x: float) -> float:
    return math.log1p(math.exp(x))


@pytest.mark.parametrize("preset", ["fixed", "paper", "reference", "yahoo", "h", "reference, h"])
@pytest.mark.parametrize("name", [name for name in OBJECTIVES if OBJECTIVES[name].get("inner") != "svi"])
def test_the_loss_is_its_equation(name: str, preset: str) -> None:
    scripts = {"reference": LatentConfig.reference(), "yahoo": LatentConfig.reference("yahoo")}
    base = {"paper": LatentConfig.paper(), **scripts}.get(preset.removesuffix(", h"), LatentConfig())
    config = dataclasses.replace(base, **TINY).with_objective(name)
    config = dataclasses.replace(
        config,
        critic_steps=0,
        beta_schedule="constant",
        beta=0.7,
        inner="none",
        inner_optimizer="adam",
        temperature=0.5,
    )
    if preset.endswith("h"):
        if config.contrast == "none":
            pytest.skip("no contrast")
        config = dataclasses.replace(config, contrast="h")
    model = made(config)
    batch = batch_of(model, SENTENCES[:3])
    views, width = config.views, config.latent_width
    torch.manual_seed(5)
    noise = torch.randn(3 * views, width)
    gaussians = torch.randn(12 if preset == "reference" else 9, width)  # drawn next, where there are more negatives
    state = model.network.encoder(batch.words_BT, batch.lengths_B).repeat(views, 1)
    z = model.network.posterior(state, noise)

    expected = sum(scalar_reconstruction(model, batch.repeated(views), z)) / 3
    if config.kl == "closed":
        kl = 0.0
        gaussian = model.network.posterior.gaussian(state)
        for mean, log_variance in zip(gaussian.mean_BZ.tolist(), gaussian[1].tolist(), strict=True):
            kl += sum(0.5 * (m * m + math.exp(v) - v - 1) for m, v in zip(mean, log_variance, strict=True))
        expected += 0.7 * kl / 3
    elif config.kl != "none":
        assert model.critics is not None
        own = 0 if config.critic == "xz" else 1
        values = model.critics(state, z)[own].tolist()
        for view in range(views):
            here = values[3 * view : 3 * view + 3]
            if config.kl == "circle" and config.encoder_kl_term == "circle":
                assert config.circle_reduction == "sum"
                expected += 0.7 * softplus(-sum(here))
            else:
                expected += 0.7 * sum(here) / 3
        if config.squared_term == "reference" and name == "clvae+_mi":
            expected += 0.7 * sum((values[i] - values[3 + i]) ** 2 for i in range(3))
    if config.contrast != "none":
        seen = state if config.contrast == "h" else z
        first, second = list(seen[:3]), list(seen[3:])
        more: list[Tensor] = []
        if config.contrastive_extras == "reference":
            first, second = [seen[:3].mean(0), *first], [seen[3:].mean(0), *second]
        if preset in ("reference", "yahoo") and config.critic != "z":
            more = list(gaussians)
        total = 0.0
        for i in range(len(first)):
            own_similarity = math.exp(cosine(first[i], second[i]) / 0.5)
            others = first if config.negatives_view == "first" else second
            negatives = [*(others[j] for j in range(len(first)) if j != i), *more]
            all_of_them = own_similarity + sum(math.exp(cosine(first[i], other) / 0.5) for other in negatives)
            total -= math.log(own_similarity / all_of_them) / len(first)
        expected += total

    step = updater(model, config)
    torch.manual_seed(5)
    found = step(batch, 3)
    assert found["loss"] == pytest.approx(expected, rel=1e-4)


@pytest.mark.parametrize("name", ["vae", "clvae+_mi", "savae", "lagvae"])
def test_beta_rises_over_the_epochs_of_the_run_and_weighs_kl(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(update, "MOST_ALONE", 2)
    config = dataclasses.replace(LatentConfig(), **TINY).with_objective(name)
    config = dataclasses.replace(config, epochs=2, beta_start=0.2)
    model = made(config)
    batch = batch_of(model, SENTENCES[:3])
    step = updater(model, config, steps=8, draw=lambda count: [batch] * count)
    found = [step(batch, number) for number in (0, 1, 2, 4, 7)]
    betas = [0.2, 0.4, 0.6, 1.0, 1.0]  # 9 / 40 of 16 steps are about four
    assert [figures["beta"] for figures in found] == pytest.approx(betas)
    for figures, beta in zip(found, betas, strict=True):
        if "kl" in figures:
            assert figures["loss"] == pytest.approx(figures["reconstruction"] + beta * figures["kl"], rel=1e-5)


@pytest.mark.parametrize("name", ["ivae", "clvae_mi", "clvae+", "clvae+_mi"])
@pytest.mark.parametrize("preset", ["fixed", "paper", "reference"])
def test_a_critics_gradient_is_its_equations(preset: str, name: str) -> None:
    """Of f and g, from autograd on eq. 3, or on eqs. 13 and 18, written out."""
    base = LatentConfig() if preset == "fixed" else getattr(LatentConfig, preset)()
    config = dataclasses.replace(base, **TINY).with_objective(name)
    config = dataclasses.replace(config, critic_steps=1)
    model, twin = made(config), made(config)
    batch = batch_of(model, SENTENCES[:3])
    step = updater(model, config)
    torch.manual_seed(5)
    step(batch, 3)

    views = config.views
    torch.manual_seed(5)
    of_step = torch.randn(3 * views, 3)  # one draw for all, where there is but one
    state = twin.network.encoder(batch.words_BT, batch.lengths_B).repeat(views, 1).detach()
    z = twin.network.posterior(state, torch.randn(3 * views, 3) if preset == "fixed" else of_step).detach()
    prior = torch.randn(3 * views, 3)
    assert twin.critics is not None and model.critics is not None
    loss = torch.zeros(())
    for critic in (0, 1):
        on_posterior, on_prior = twin.critics(state, z)[critic], twin.critics(state, prior)[critic]
        if config.kl == "dual":
            loss = loss - (sum(on_posterior) - sum(on_prior.exp())) / (3 * views)
            continue
        for view in (slice(0, 3), slice(3, 6)):
            f, p = on_posterior[view], on_prior[view]
            if preset == "fixed":
                loss = loss + torch.log(1 + torch.exp(-f.sum() / 3)) + torch.log(1 + torch.exp(p.exp().sum() / 3))
            elif preset == "paper":
                loss = loss + torch.log(1 + torch.exp(-f.sum())) + torch.log(1 + torch.exp(p.exp().sum()))
            else:
                loss = loss + torch.log(1 + torch.exp(-f).sum()) + torch.log(1 + torch.exp(p.exp()).sum())
    if config.kl == "circle" and preset != "fixed":
        f_or_g = twin.critics(state, z)[1 if preset == "reference" or name == "clvae+_mi" else 0]
        loss = loss + sum((f_or_g[i] - f_or_g[3 + i]) ** 2 for i in range(3))
        if preset == "reference":
            g = twin.critics(state, prior)[1]
            loss = loss + sum((g[i] - g[3 + i]) ** 2 for i in range(3))
    loss.backward()
    for one, other in zip(model.critics.parameters(), twin.critics.parameters(), strict=True):
        torch.testing.assert_close(one.grad, other.grad)


@pytest.mark.parametrize(("draws", "different"), [("one", 1), ("each", 4)])
def test_one_draw_of_the_posterior_serves_all_steps_of_the_critics_or_each_has_its_own(
    draws: Any, different: int
) -> None:
    """Four steps; the prior is drawn anew in each. The rows of the posterior's draws stand above the prior's."""
    config = dataclasses.replace(LatentConfig(), **TINY, critic_steps=4, critic_draws=draws)
    model = made(config)
    assert model.critics is not None
    seen: list[Tensor] = []
    model.critics.register_forward_hook(lambda _, given, __: seen.append(given[1]))
    updater(model, config)(batch_of(model, SENTENCES[:3]), 3)
    halves = zip(*(z.chunk(2) for z in seen), strict=True)
    assert [len({tuple(z.flatten().tolist()) for z in half}) for half in halves] == [different, 4]


@pytest.mark.parametrize("name", [name for name in OBJECTIVES if OBJECTIVES[name].get("kl") != "circle"])
def test_the_squared_term_is_part_of_the_circle_loss_alone(name: str) -> None:
    found = []
    for term in ("none", "paper", "reference"):
        config = dataclasses.replace(LatentConfig(), **TINY, squared_term=term).with_objective(name)
        model = made(config)
        batch = batch_of(model, SENTENCES[:3])
        step = updater(model, config, draw=lambda count, batch=batch: [batch] * count)
        found.append([step(batch, number) for number in range(2)])
    assert found[0] == found[1] == found[2]


def test_without_contrast_there_are_no_two_views_to_differ() -> None:
    config = dataclasses.replace(LatentConfig.reference(), **TINY, contrast="none")
    model = made(config)
    assert math.isfinite(updater(model, config)(batch_of(model, SENTENCES[:3]), 3)["loss"])


def test_the_critics_learn_kl() -> None:
    """Alone for a while, f comes near the closed form of the very same posterior."""
    config = dataclasses.replace(LatentConfig().with_objective("ivae"), **TINY)
    config = dataclasses.replace(
        config, critic_steps=100, critic_learning_rate=6e-3, learning_rate=1e-12, batch_size=10
    )
    model = made(config)
    with torch.no_grad():
        assert model.network.posterior.noise is not None
        model.network.posterior.noise.weight.copy_(0.6 * torch.eye(3))
    batch = batch_of(model, SENTENCES)
    step = updater(model, config)
    seen = [step(batch, 0)["dual_kl"] for _ in range(12)][4:]
    closed = float(model.closed_kl(model.encode(SENTENCES)).mean())
    assert sum(seen) / len(seen) == pytest.approx(closed, rel=0.2)


@pytest.mark.parametrize("name", [*OBJECTIVES, "clvae+_mi, mlp"])
def test_learns_ten_sentences_by_heart(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(svi, "RATE", 0.1)
    objective, _, posterior = name.partition(", ")
    config = dataclasses.replace(LatentConfig(), **TINY).with_objective(objective)
    if posterior:
        config = dataclasses.replace(config, posterior=posterior)  # type: ignore[arg-type]
    config = dataclasses.replace(
        config,
        word_width=16,
        hidden_width=32,
        latent_width=8,
        beta=0.05,
        beta_start=0.0,
        learning_rate=1e-2,
        batch_size=10,
        critic_steps=1,
        initial_range=0.2,
    )
    model = made(config)
    batch = batch_of(model, SENTENCES)
    step = updater(model, config, steps=10, draw=lambda count: [batch] * count)
    for number in range(60 if config.inner == "svi" else 160):
        step(batch, number)
        if number == 4 and config.inner == "aggressive":  # as a validation whose information falls would
            step.on_validation({"mi": 1.0})
            step.on_validation({"mi": 0.5})
            assert not step.behind
    said = model.reconstruct(SENTENCES)
    assert sum(one == other for one, other in zip(said, SENTENCES, strict=True)) >= 9, said


def test_swaps_are_those_of_a_loop() -> None:
    torch.manual_seed(0)
    words = torch.arange(1, 9).repeat(50, 1)
    lengths = torch.randint(1, 9, (50,))
    words = words.masked_fill(torch.arange(8) >= lengths[:, None], 0)
    torch.manual_seed(1)
    found = swapped(SentenceBatch(words, lengths), 0.4).words_BT
    torch.manual_seed(1)
    coins = torch.rand(words.shape) < 0.4
    for row in range(50):
        expected = words[row].tolist()
        for i in range(int(lengths[row]) - 1):
            if coins[row, i]:
                expected[i], expected[i + 1] = expected[i + 1], expected[i]
        assert found[row].tolist() == expected


def test_swapped_words_are_read_and_the_sentence_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(update, "SWAPPED", 1.0)
    config = dataclasses.replace(LatentConfig(), **TINY, positives="swap")
    model = made(config)
    batch = batch_of(model, SENTENCES[:3])
    seen: list[SentenceBatch] = []
    model.network.register_forward_pre_hook(lambda module, given: seen.extend([given[0], given[2]]))
    updater(model, config)(batch, 0)
    read, said = seen
    assert torch.equal(said.words_BT, batch.repeated(2).words_BT)
    assert torch.equal(read.words_BT[:3], batch.words_BT) and not torch.equal(read.words_BT[3:], batch.words_BT)
