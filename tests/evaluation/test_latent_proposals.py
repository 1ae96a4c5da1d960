"""Gaussians to draw from, against torch's own; and fitted to p(z|x) where that is known: x = z + σ ε, z ~ N(0, I)."""

from __future__ import annotations

import math

import pytest
import torch
from torch import Tensor

from paraform.evaluation.latent import (
    GaussianProposal,
    Mixture,
    adapted,
    bounds,
    importance_bound,
    log_prior,
    log_weights,
    proposals,
)

SIGMA, WIDTH = 0.5, 16
X_NZ = math.sqrt(1 + SIGMA**2) * torch.randn(40, WIDTH, generator=torch.Generator().manual_seed(0)).double()
PRIOR = GaussianProposal(torch.zeros_like(X_NZ), torch.eye(WIDTH, dtype=torch.float64).expand(40, -1, -1))


def log_likelihood(z_SNZ: Tensor) -> Tensor:
    return torch.distributions.Normal(z_SNZ, SIGMA).log_prob(X_NZ).sum(-1)


def truth() -> float:
    """E ln p(x)."""
    return float(torch.distributions.Normal(0.0, math.sqrt(1 + SIGMA**2)).log_prob(X_NZ).sum(1).mean())


def bound(proposal: GaussianProposal | Mixture, samples: int, seed: int) -> float:
    z_SNZ = proposal.sample(samples, torch.Generator().manual_seed(seed))
    weights_SN = log_weights(log_likelihood(z_SNZ), proposal.log_density(z_SNZ), z_SNZ)
    return float(importance_bound(weights_SN).mean())


def seeded(seed: int = 0) -> torch.Generator:
    return torch.Generator().manual_seed(seed)


def test_a_fit_by_some_samples_is_worth_many_times_as_many() -> None:
    """From the prior, which is 12 nats from p(z|x) = N(x / (1 + σ²), σ² / (1 + σ²))."""
    fitted = adapted(log_likelihood, PRIOR, 1024, seeded())
    exact_NZ = X_NZ / (1 + SIGMA**2)
    away = [float((mean - exact_NZ).square().sum(1).mean()) for mean in (PRIOR.mean_NZ, fitted.fitted.mean_NZ)]
    assert away[1] < away[0] / 4
    assert truth() - 1 < bound(fitted, 256, 1) < truth() + 0.05
    assert bound(PRIOR, 8192, 1) < bound(fitted, 256, 1)


def test_where_nothing_is_to_be_learnt_the_fit_stays_where_it_began() -> None:
    flat = adapted(lambda z_SNZ: z_SNZ.new_zeros(z_SNZ.shape[:2]), PRIOR, 4096, seeded())
    torch.testing.assert_close(flat.fitted.mean_NZ, PRIOR.mean_NZ, atol=0.1, rtol=0)
    deviation_NZ = flat.fitted.factor_NZZ.diagonal(dim1=1, dim2=2)
    torch.testing.assert_close(deviation_NZ, torch.ones_like(deviation_NZ), atol=0.1, rtol=0)


@pytest.mark.parametrize("samples", [4, 5, 1023])
def test_the_rounds_draw_as_many_samples_as_they_may(samples: int) -> None:
    drawn = []

    def counted(z_SNZ: Tensor) -> Tensor:
        drawn.append(len(z_SNZ))
        return log_likelihood(z_SNZ)

    adapted(counted, PRIOR, samples, seeded())
    assert sum(drawn) == samples and len(drawn) == proposals.ROUNDS and max(drawn) - min(drawn) <= 1


def test_a_mixture_is_torchs_own() -> None:
    narrow = GaussianProposal(X_NZ, 0.3 * PRIOR.factor_NZZ)
    mixture = Mixture(narrow, PRIOR)
    share = torch.tensor([1 - proposals.BROAD, proposals.BROAD], dtype=torch.float64)
    parts = torch.distributions.MultivariateNormal(
        torch.stack([X_NZ, PRIOR.mean_NZ], 1), scale_tril=torch.stack([narrow.factor_NZZ, PRIOR.factor_NZZ], 1)
    )
    peer = torch.distributions.MixtureSameFamily(torch.distributions.Categorical(share.expand(40, -1)), parts)
    z_SNZ = mixture.sample(4000, seeded())
    assert z_SNZ.shape == (4000, 40, WIDTH) and z_SNZ.dtype == torch.float64
    torch.testing.assert_close(mixture.log_density(z_SNZ[:50]), peer.log_prob(z_SNZ[:50]))
    ratio_SN = log_prior(z_SNZ) - mixture.log_density(z_SNZ)
    assert float(ratio_SN.max()) <= -math.log(proposals.BROAD) + 1e-9  # no weight is above 1 / BROAD
    assert float(ratio_SN.exp().mean()) == pytest.approx(1, abs=0.02)  # E_r[p / r], if draws and density are one
    torch.testing.assert_close(z_SNZ.mean(0), peer.mean, atol=0.1, rtol=0)


def test_weights_are_tempered_as_little_as_leaves_enough_of_them() -> None:
    noise_MN = torch.randn(80, 4, generator=seeded(), dtype=torch.float64)
    log_weights_MN = noise_MN * torch.tensor([0.1, 3.0, 300.0, 1.0])
    log_weights_MN[8:, 3] = -math.inf  # no τ leaves more than 8 of them, fewer than a tenth
    weights_MN = proposals._tempered_weights(log_weights_MN)
    torch.testing.assert_close(weights_MN[:, 0], log_weights_MN[:, 0].softmax(0))  # τ = 1
    counted_N = 1 / weights_MN.square().sum(0)
    assert counted_N.tolist()[1:] == pytest.approx([80 / proposals.EFFECTIVE] * 2 + [8], rel=1e-4)


def test_a_fit_begun_at_the_posterior_stays_there() -> None:
    exact = GaussianProposal(X_NZ / (1 + SIGMA**2), math.sqrt(SIGMA**2 / (1 + SIGMA**2)) * PRIOR.factor_NZZ)
    fitted = adapted(log_likelihood, exact, 2048, seeded())
    torch.testing.assert_close(fitted.fitted.mean_NZ, exact.mean_NZ, atol=0.06, rtol=0)
    torch.testing.assert_close(fitted.fitted.factor_NZZ, exact.factor_NZZ, atol=0.06, rtol=0)


def test_a_fit_mends_what_is_a_little_off() -> None:
    narrow = GaussianProposal(X_NZ / (1 + SIGMA**2) + 0.3, 0.3 * PRIOR.factor_NZZ)
    assert bound(narrow, 2048, 1) < truth() - 0.5
    assert truth() - 0.05 < bound(adapted(log_likelihood, narrow, 1024, seeded()), 1024, 1) < truth() + 0.05


def test_a_fitted_density_is_torchs_own() -> None:
    torch.manual_seed(0)
    fitted = GaussianProposal.fitted(torch.randn(9, 5, 3))
    z = torch.randn(4, 5, 3)
    peer = torch.distributions.MultivariateNormal(fitted.mean_NZ, scale_tril=fitted.factor_NZZ)
    torch.testing.assert_close(fitted.log_density(z), peer.log_prob(z.double()))
    many = fitted.sample(200_000, torch.Generator().manual_seed(0)).double()
    torch.testing.assert_close(torch.cov(many[:, 0].T), peer.covariance_matrix[0], atol=0.03, rtol=0.03)
    with pytest.raises(ValueError, match="at least 4"):
        GaussianProposal.fitted(torch.randn(3, 5, 3))


@pytest.mark.parametrize("share", [1.0, 0.3, 1e-3, 0.0])
def test_a_tempered_proposal_is_the_product_of_posterior_and_prior(share: float) -> None:
    """ln r is β ln q + (1 − β) ln p, but for a constant of each sentence."""
    torch.manual_seed(0)
    posterior = GaussianProposal.fitted(0.3 * torch.randn(9, 5, 3) + 2 * torch.randn(5, 3))
    z = torch.randn(40, 5, 3)
    product = share * posterior.log_density(z) + (1 - share) * log_prior(z.double())
    constant = posterior.tempered(share).log_density(z) - product
    torch.testing.assert_close(constant, constant[:1].expand(40, -1), atol=1e-9, rtol=0)


def test_a_tempered_proposal_of_a_very_narrow_posterior() -> None:
    turn = torch.linalg.qr(torch.randn(3, 3, dtype=torch.float64)).Q
    widths = torch.tensor([1e-10, 1e-3, 1.0], dtype=torch.float64)
    posterior = GaussianProposal.of_root(torch.full((5, 3), 9.0), (turn * widths).expand(5, -1, -1))
    for share in bounds.SHARES:
        proposal = posterior.tempered(share)
        z = proposal.sample(9, torch.Generator().manual_seed(0))
        assert bool(torch.isfinite(proposal.log_density(z)).all())
    assert posterior.tempered(1.0) is posterior


@pytest.mark.parametrize("constant", [[1], [0, 1, 2]])
def test_a_gaussian_fitted_to_samples_that_do_not_vary_has_a_density(constant: list[int]) -> None:
    """A millionth of the mean variance and 1e-8 stand in the singular direction."""
    z_SNZ = torch.randn(50, 4, 3, generator=torch.Generator().manual_seed(0))
    z_SNZ[:, :, constant] = 0.5
    fitted = GaussianProposal.fitted(z_SNZ)
    drawn_SNZ = fitted.sample(20, torch.Generator().manual_seed(1))
    found_SN = fitted.log_density(drawn_SNZ)
    assert bool(torch.isfinite(found_SN).all())
    for row in range(4):
        covariance = torch.cov(z_SNZ[:, row].double().T)
        covariance += (1e-6 * covariance.trace() / 3 + 1e-8) * torch.eye(3)
        peer = torch.distributions.MultivariateNormal(z_SNZ[:, row].double().mean(0), covariance)
        torch.testing.assert_close(found_SN[:, row], peer.log_prob(drawn_SNZ[:, row].double()))
