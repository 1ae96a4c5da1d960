"""Bounds on models whose likelihood is known, and how a validation looks at a latent space."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import pytest
import torch
import torch.nn.functional as F
from torch import Tensor

from paraform.evaluation.latent import (
    GaussianProposal,
    alarms,
    bound_by_a_quarter,
    bounds,
    draw,
    estimate,
    importance_bound,
    log_likelihood,
    log_prior,
    log_weights,
    protocol,
    validate,
)
from paraform.losses.gaussian_kl import gaussian_kl


class Coin:
    """p(heads | z) = σ(2 z_1 + 1), z ~ N(0, I) in two dimensions; q(z|x) = N(±shift, spread²), of no use to z_2.

    ln p(x) is an integral over one number, so it is known.
    """

    latent_width = 2
    has_noise = has_density = True

    def __init__(self, shift: float = 0.4, spread: float = 0.8) -> None:
        self.shift, self.spread = shift, spread

    def lengths(self, texts: Sequence[str]) -> list[int]:
        return [2 for _ in texts]

    def unknown(self, texts: Sequence[str]) -> int:
        return 0

    def encode(self, texts: Sequence[str]) -> Tensor:
        return torch.tensor([[1.0] if text == "heads" else [-1.0] for text in texts])

    def means(self, encoded: Tensor) -> Tensor:
        return torch.cat([self.shift * encoded, torch.zeros_like(encoded)], 1)

    def sample_posterior(self, encoded: Tensor, samples: int, generator: torch.Generator) -> Tensor:
        noise = torch.randn(samples, len(encoded), 2, generator=generator)
        return self.means(encoded) + self.spread * noise

    def log_posterior(self, encoded: Tensor, z_SNZ: Tensor) -> Tensor:
        return torch.distributions.Normal(self.means(encoded), self.spread).log_prob(z_SNZ).sum(-1)

    def closed_kl(self, encoded: Tensor) -> Tensor:
        return gaussian_kl(self.means(encoded), torch.full((len(encoded), 2), 2 * math.log(self.spread)))

    def log_likelihood(self, texts: Sequence[str], z_SNZ: Tensor) -> Tensor:
        return F.logsigmoid(self.encode(texts)[:, 0] * (2 * z_SNZ[..., 0] + 1))

    def posterior_mean(self, encoded: Tensor) -> Tensor | None:
        return self.means(encoded)

    def posterior_root(self, encoded: Tensor) -> Tensor:
        return (self.spread * torch.eye(2, dtype=torch.float64)).expand(len(encoded), -1, -1)

    def critic_values(self, encoded: Tensor, z_SNZ: Tensor) -> tuple[Tensor, Tensor] | None:
        return None


def normal_density(means: Tensor, spread: float) -> Callable[[Tensor], Tensor]:
    return lambda z: torch.distributions.Normal(means, spread).log_prob(z).sum(-1)


def true_log_likelihood(text: str) -> float:
    """∫ N(z; 0, 1) σ(±(2z + 1)) dz on a fine grid."""
    z = torch.linspace(-10, 10, 200_001, dtype=torch.float64)
    sign = 1 if text == "heads" else -1
    values = torch.exp(-(z**2) / 2) / math.sqrt(2 * math.pi) * torch.sigmoid(sign * (2 * z + 1))
    return float(torch.trapezoid(values, z).log())


def test_the_importance_bound_rises_to_the_true_likelihood() -> None:
    model, texts = Coin(), ["heads"] * 3000
    drawn = draw(model, texts, samples=64, seed=0)
    weights = log_weights(drawn.log_likelihood_SN, model.log_posterior(drawn.encoded, drawn.z_SNZ), drawn.z_SNZ)
    found, errors = [], []
    for samples in (1, 4, 16, 64):
        bound = importance_bound(weights[:samples])
        found.append(float(bound.mean()))
        errors.append(float(bound.std()) / math.sqrt(3000))
    assert found == sorted(found)
    truth = true_log_likelihood("heads")
    assert all(bound < truth + 3 * error for bound, error in zip(found, errors, strict=True))
    assert found[-1] == pytest.approx(truth, abs=0.02) and found[0] < truth - 0.02
    elbo = float(drawn.log_likelihood_SN[0].mean()) - float(model.closed_kl(drawn.encoded).mean())
    assert found[0] == pytest.approx(elbo, abs=4 * errors[0])


@pytest.mark.parametrize("samples", [4, 7, 64])
def test_a_quarter_of_the_samples_is_the_mean_of_four_bounds(samples: int) -> None:
    weights = 3 * torch.randn(samples, 9, generator=torch.Generator().manual_seed(0), dtype=torch.float64)
    few = samples // 4
    expected = sum(weights[at * few : (at + 1) * few].exp().mean(0).log() for at in range(4)) / 4
    torch.testing.assert_close(bound_by_a_quarter(weights), expected)
    if samples % 4 == 0:
        assert bool((bound_by_a_quarter(weights) < importance_bound(weights)).all())
    assert bool(bound_by_a_quarter(weights[:3]).isnan().all())


def test_a_fitted_proposal_bounds_too() -> None:
    model, texts = Coin(), ["heads", "tails"] * 1000
    encoded = model.encode(texts)
    generator = torch.Generator().manual_seed(0)
    fitted = GaussianProposal.fitted(model.sample_posterior(encoded, 100, generator))
    z = fitted.sample(64, generator)
    bound = importance_bound(log_weights(log_likelihood(model, texts, z), fitted.log_density(z), z))
    truth = (true_log_likelihood("heads") + true_log_likelihood("tails")) / 2
    assert float(bound.mean()) == pytest.approx(truth, abs=0.02)
    assert float(bound.mean()) < truth + 0.005


class Line:
    """x = z + σ ε of 16 numbers, z ~ N(0, I), so that x ~ N(0, (1 + σ²) I); q ∝ p(z) p(x|z)^(1/β), a β-VAE's best."""

    latent_width = 16
    sigma = 0.5

    def __init__(self, beta: float, posterior: str = "gaussian") -> None:
        self.posterior = posterior
        self.has_noise, self.has_density = True, posterior == "gaussian"
        self.shrink = 1 / (1 + beta * self.sigma**2)
        self.spread = math.sqrt(beta * self.sigma**2 * self.shrink)

    def lengths(self, texts: Sequence[str]) -> list[int]:
        return [1 for _ in texts]

    def unknown(self, texts: Sequence[str]) -> int:
        return 0

    def encode(self, texts: Sequence[str]) -> Tensor:
        noise_NZ = torch.randn(len(texts), 16, generator=torch.Generator().manual_seed(7))
        return noise_NZ * math.sqrt(1 + self.sigma**2)

    def posterior_mean(self, encoded: Tensor) -> Tensor | None:
        return None if self.posterior == "mlp" else self.shrink * encoded

    def posterior_root(self, encoded: Tensor) -> Tensor:
        return (self.spread * torch.eye(16, dtype=torch.float64)).expand(len(encoded), -1, -1)

    def sample_posterior(self, encoded: Tensor, samples: int, generator: torch.Generator) -> Tensor:
        return self.shrink * encoded + self.spread * torch.randn(samples, *encoded.shape, generator=generator)

    def log_posterior(self, encoded: Tensor, z_SNZ: Tensor) -> Tensor:
        return normal_density(self.shrink * encoded, self.spread)(z_SNZ)

    def closed_kl(self, encoded: Tensor) -> Tensor:
        return gaussian_kl(self.shrink * encoded, torch.full_like(encoded, 2 * math.log(self.spread)))

    def log_likelihood(self, texts: Sequence[str], z_SNZ: Tensor) -> Tensor:
        rows = [int(text) for text in texts]
        return normal_density(self.encode([""] * 400)[rows], self.sigma)(z_SNZ)

    def nll(self) -> float:
        return -float(normal_density(torch.zeros(16), math.sqrt(1 + self.sigma**2))(self.encode([""] * 400)).mean())


NUMBERS = [str(number) for number in range(400)]


@pytest.mark.parametrize("beta", [1.0, 0.3, 0.1])
@pytest.mark.parametrize("posterior", ["gaussian", "mlp"])
def test_a_beta_vaes_proposal_is_tempered_by_beta(beta: float, posterior: str) -> None:
    model = Line(beta, posterior)
    found, _ = estimate(model, NUMBERS, samples=32, seed=0)
    assert found.share == beta
    assert found.tempered_bound == pytest.approx(model.nll(), abs=1e-4 if posterior == "gaussian" else 0.1)
    assert (found.posterior_bound > model.nll() + 0.5) == (beta < 1)


def test_the_share_is_chosen_on_samples_of_its_own() -> None:
    """Chosen on those of the bound, the bound of two samples would be none: it would err by 0.3 in the mean."""
    model, found_bounds = Coin(1.5, 0.3), []
    for seed in range(0, 900, 6):
        found, _ = estimate(model, ["heads", "tails"], samples=2, seed=seed)
        found_bounds.append(-found.tempered_bound)
    truth = (true_log_likelihood("heads") + true_log_likelihood("tails")) / 2
    error = float(torch.tensor(found_bounds).std()) / math.sqrt(len(found_bounds))
    assert sum(found_bounds) / len(found_bounds) < truth + 3 * error


@pytest.mark.parametrize(("beta", "times"), [(0.3, 2), (1.0, 1)])
def test_a_checkpoint_is_chosen_by_the_tempered_bound_for_which_sentences_are_scored_again(
    monkeypatch: pytest.MonkeyPatch, beta: float, times: int
) -> None:
    """Once more, unless it is the posterior's own; and a few of them for each share."""
    model, scored = Line(beta), []
    of_likelihood = model.log_likelihood

    def counted(texts: Sequence[str], z_SNZ: Tensor) -> Tensor:
        scored.append(z_SNZ.shape[0] * z_SNZ.shape[1])
        return of_likelihood(texts, z_SNZ)

    monkeypatch.setattr(model, "log_likelihood", counted)
    loss = validate(model, NUMBERS, samples=8)["loss"]
    assert loss == pytest.approx(model.nll(), abs=1e-4)
    assert sum(scored) == 8 * 400 * times + 8 * 31 * len(bounds.SHARES)


def test_a_bound_may_have_samples_of_its_own_and_draws_some_at_a_time(monkeypatch: pytest.MonkeyPatch) -> None:
    model, scored = Line(0.3, "mlp"), []
    whole, _ = estimate(model, NUMBERS, samples=4, bound_samples=64, seed=0)
    of_likelihood = model.log_likelihood

    def counted(texts: Sequence[str], z_SNZ: Tensor) -> Tensor:
        scored.append(z_SNZ.shape[0] * z_SNZ.shape[1])
        return of_likelihood(texts, z_SNZ)

    monkeypatch.setattr(model, "log_likelihood", counted)
    monkeypatch.setattr(bounds, "HELD", 400 * 16 * 24)
    found, drawn = estimate(model, NUMBERS, samples=4, bound_samples=64, seed=0)
    assert len(drawn.z_SNZ) == 4 and max(scored) <= 400 * 24
    assert sum(scored) == 400 * (4 + 4 + 64) + 32 * 31 * len(bounds.SHARES)
    both = (found.tempered_bound, found.quarter_bound)
    assert both == pytest.approx((whole.tempered_bound, whole.quarter_bound), abs=1e-9)  # no draw twice, none lost
    assert model.nll() - 0.02 < found.tempered_bound < found.quarter_bound < model.nll() + 0.1
    own, _ = estimate(Line(1.0), NUMBERS, samples=2, bound_samples=8, seed=0)  # also where the posterior is best
    assert own.share == 1 and own.quarter_bound == pytest.approx(own.tempered_bound, abs=1e-4)
    with pytest.raises(ValueError, match="bound_samples 0; expected 1 to 1,000,000"):
        estimate(model, NUMBERS, samples=4, bound_samples=0, seed=0)
    with pytest.raises(ValueError, match=r"^samples 0; expected 1 to 1,000,000"):
        estimate(model, NUMBERS, samples=0, seed=0)


class Astray(Line):
    """Its posterior is of other sentences, so that the prior is the best of the tempered proposals."""

    def posterior_mean(self, encoded: Tensor) -> Tensor | None:
        return -self.shrink * encoded


def test_many_samples_have_a_proposal_of_each_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    model, few = Astray(1.0), NUMBERS[:100]
    nll = -float(normal_density(torch.zeros(16), math.sqrt(1.25))(model.encode([""] * 400))[:100].mean())
    plain, _ = estimate(model, few, samples=4, bound_samples=255, seed=0)
    assert not plain.adapted and plain.share == 0
    most: list[int] = []
    of_likelihood = model.log_likelihood

    def noted(texts: Sequence[str], z_SNZ: Tensor) -> Tensor:
        most.append(z_SNZ.shape[1])
        return of_likelihood(texts, z_SNZ)

    monkeypatch.setattr(model, "log_likelihood", noted)
    monkeypatch.setattr(bounds, "HELD", 256 * 16 * 48)  # sentences in three groups
    monkeypatch.setattr(bounds, "SHARES", (0.0,))
    found, _ = estimate(model, few, samples=4, bound_samples=256, seed=0)
    assert found.adapted and found.share == 0 and max(most[1:]) <= 48  # the first are the posterior's own
    assert nll - 0.02 < found.tempered_bound < nll + 1.5 < plain.tempered_bound
    monkeypatch.setattr(bounds, "SHARES", (1.0, 0.0))
    exact, _ = estimate(Line(1.0), few, samples=4, bound_samples=256, seed=0)
    assert not exact.adapted and exact.share == 1  # which nothing is tighter than


def test_the_samples_of_a_fit_are_not_those_of_its_bound(monkeypatch: pytest.MonkeyPatch) -> None:
    """If they were, the bound would be none; nor is the choice of a proposal of the same draws."""
    model, begun = Coin(1.5, 0.3), []
    encoded = model.encode(["heads", "tails"])
    posterior = GaussianProposal.of_root(model.means(encoded), model.posterior_root(encoded))
    fitted = []
    for seed in range(80):
        prior = posterior.tempered(0.0)
        weights = bounds.Joint(model, ["heads", "tails"]).adapted_weights(prior, 24, 24, seed)
        fitted.append(float(importance_bound(weights).mean()))
    truth = (true_log_likelihood("heads") + true_log_likelihood("tails")) / 2
    error = float(torch.tensor(fitted).std()) / math.sqrt(len(fitted))
    assert truth - 0.1 < sum(fitted) / len(fitted) < truth + 3 * error

    of_proposal = GaussianProposal.sample

    def noted(self: GaussianProposal, samples: int, generator: torch.Generator) -> Tensor:
        begun.append(bytes(generator.get_state().tolist()))
        return of_proposal(self, samples, generator)

    monkeypatch.setattr(GaussianProposal, "sample", noted)
    monkeypatch.setattr(bounds, "GAIN", -math.inf)
    monkeypatch.setattr(bounds, "SHARES", (0.0,))  # all shares have the same noise, so that they compare
    found = bounds.tight_bound(bounds.Joint(model, ["heads", "tails"]), posterior, 256, 0)
    assert found.adapted and len(begun) > 15
    assert len(set(begun[1:])) == len(begun) - 1  # the first is the tempered one's, beside which the fit is tried


@pytest.mark.parametrize("model", [Line(1.0), Line(0.3), Line(1.0, "mlp"), Line(0.3, "mlp")])
@pytest.mark.parametrize("bound_samples", [4, 8, 256])
def test_no_draw_of_the_pilot_is_one_of_the_metrics(
    model: Line, bound_samples: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of 40 sentences the pilot takes 20. What it draws chooses the proposal, so that the bound's draws are of another
    seed, and so are all other samples; the seeds of the metrics' generators tell.
    """
    pilot: set[int] = set()
    metrics: set[int] = set()
    of_posterior, of_proposal = model.sample_posterior, GaussianProposal.sample

    def drawn(encoded: Tensor, samples: int, generator: torch.Generator) -> Tensor:
        metrics.add(generator.initial_seed())
        return of_posterior(encoded, samples, generator)

    def proposed(self: GaussianProposal, samples: int, generator: torch.Generator) -> Tensor:
        (pilot if len(self.mean_NZ) == 20 else metrics).add(generator.initial_seed())
        return of_proposal(self, samples, generator)

    monkeypatch.setattr(model, "sample_posterior", drawn)
    monkeypatch.setattr(GaussianProposal, "sample", proposed)
    monkeypatch.setattr(bounds, "GAIN", -math.inf)  # from 256 samples on the proposal is fitted
    found, _ = estimate(model, NUMBERS[:40], samples=4, bound_samples=bound_samples, seed=5)
    assert found.adapted == (bound_samples >= bounds.ADAPTED_FROM)
    assert len(pilot) == 1 and metrics and not pilot & metrics


@pytest.mark.parametrize(("count", "samples"), [(1, 1), (1, 40), (33, 1)])
def test_a_tempered_bound_of_few(count: int, samples: int) -> None:
    found, _ = estimate(Coin(), ["heads"] * count, samples=samples, seed=0)
    assert math.isfinite(found.tempered_bound) and found.share in bounds.SHARES


def test_samples_are_scored_in_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    model, texts = Coin(), ["heads", "tails", "heads", "tails", "tails"]
    z = torch.randn(7, 5, 2, generator=torch.Generator().manual_seed(0))
    whole = log_likelihood(model, texts, z)
    for tokens in (1, 5, 12, 30):
        monkeypatch.setattr(protocol, "TOKENS_AT_ONCE", tokens)
        torch.testing.assert_close(log_likelihood(model, texts, z), whole)


def test_no_samples() -> None:
    with pytest.raises(ValueError, match="samples 0; expected 1 to 1,000,000"):
        draw(Coin(), ["heads"], samples=0, seed=0)


def test_a_collapsed_model_is_reported_as_collapsed() -> None:
    texts = ["heads", "tails"] * 50
    good, bad = validate(Coin(shift=0.8, spread=0.5), texts), validate(Coin(shift=0.0, spread=1.0), texts)
    assert alarms(good, 100) == []
    assert bad["kl"] == pytest.approx(0.0, abs=1e-6) and bad["mi"] == pytest.approx(0.0, abs=1e-6) and bad["au"] == 0
    assert any("collapsed" in line for line in alarms(bad, 100))


def test_log_prior() -> None:
    z = torch.randn(3, 4, 5)
    torch.testing.assert_close(log_prior(z), torch.distributions.Normal(0, 1).log_prob(z).sum(-1))
