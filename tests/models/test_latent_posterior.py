"""Densities, samples and closed forms of the posteriors, against torch's own distributions."""

from __future__ import annotations

import dataclasses

import pytest
import torch
from torch.distributions import Independent, MultivariateNormal, Normal, kl_divergence

from paraform.evaluation.latent import GaussianProposal
from paraform.models.latent import LatentConfig
from paraform.models.latent.posterior import Diagonal, PosteriorLayer, Shared


def test_a_diagonal_gaussian() -> None:
    torch.manual_seed(0)
    own = Diagonal(*torch.randn(2, 4, 3, dtype=torch.float64))
    peer = Independent(Normal(own.mean_BZ, (0.5 * own.log_variance_BZ).exp()), 1)
    z = own.draw(torch.randn(5, 4, 3, dtype=torch.float64))
    torch.testing.assert_close(own.log_density(z), peer.log_prob(z))


def test_a_shared_covariance() -> None:
    torch.manual_seed(0)
    own = Shared(torch.randn(4, 3, dtype=torch.float64), torch.randn(3, 3, dtype=torch.float64))
    peer = MultivariateNormal(own.mean_BZ, own.noise_weight_ZE @ own.noise_weight_ZE.T)
    z = own.draw(torch.randn(5, 4, 3, dtype=torch.float64))
    torch.testing.assert_close(own.log_density(z), peer.log_prob(z))
    prior = MultivariateNormal(torch.zeros(4, 3, dtype=torch.float64), torch.eye(3, dtype=torch.float64))
    torch.testing.assert_close(own.kl(), kl_divergence(peer, prior))
    many = own.draw(torch.randn(100_000, 4, 3, dtype=torch.float64))
    torch.testing.assert_close(
        torch.cov(many[:, 0].T), own.noise_weight_ZE @ own.noise_weight_ZE.T, atol=0.05, rtol=0.05
    )


@pytest.mark.parametrize("kind", ["gaussian", "affine", "mlp", "point"])
def test_kinds(kind: str) -> None:
    config = dataclasses.replace(
        LatentConfig().with_objective("ae"), posterior=kind, hidden_width=6, latent_width=3, word_width=6
    )
    torch.manual_seed(0)
    layer, state = PosteriorLayer(config), torch.randn(4, 6)
    z = layer(state, torch.randn(5, 4, 3))
    assert z.shape == (5, 4, 3)
    assert bool((z[0] == z[1]).all()) == (kind == "point")
    if kind in ("mlp", "point"):
        with pytest.raises(TypeError, match=f"posterior '{kind}' has no density"):
            layer.gaussian(state)
    else:
        # The layer's samples are of the density that it names.
        noise = torch.randn(5, 4, 3)
        torch.testing.assert_close(layer(state, noise), layer.gaussian(state).draw(noise))
        # So is the proposal that has its mean and its covariance.
        proposal = GaussianProposal.of_root(layer.mean_of(state), layer.gaussian(state).root())
        torch.testing.assert_close(proposal.log_density(z).float(), layer.gaussian(state).log_density(z))
        assert torch.equal(proposal.factor_NZZ, proposal.factor_NZZ.tril())
