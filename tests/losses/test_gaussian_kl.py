"""Closed forms of KL against torch's own and against samples."""

from __future__ import annotations

import math

import pytest
import torch
from torch.distributions import Independent, MultivariateNormal, Normal, kl_divergence

from paraform.losses.gaussian_kl import affine_kl, gaussian_kl


def test_a_diagonal_gaussian_as_torch_has_it() -> None:
    torch.manual_seed(0)
    mean, log_variance = torch.randn(2, 5, 7, dtype=torch.float64)
    own = Independent(Normal(mean, (0.5 * log_variance).exp()), 1)
    prior = Independent(Normal(torch.zeros_like(mean), torch.ones_like(mean)), 1)
    torch.testing.assert_close(gaussian_kl(mean, log_variance), kl_divergence(own, prior))


def test_the_prior_is_no_distance_from_itself() -> None:
    assert gaussian_kl(torch.zeros(3, 4), torch.zeros(3, 4)).tolist() == [0, 0, 0]
    assert affine_kl(torch.zeros(3, 4), torch.eye(4)).tolist() == [0, 0, 0]


def test_a_shared_covariance_as_torch_has_it() -> None:
    torch.manual_seed(0)
    mean, weight = torch.randn(5, 3, dtype=torch.float64), torch.randn(3, 4, dtype=torch.float64)
    own = MultivariateNormal(mean, weight @ weight.T)
    prior = MultivariateNormal(torch.zeros_like(mean), torch.eye(3, dtype=torch.float64))
    torch.testing.assert_close(affine_kl(mean, weight), kl_divergence(own, prior))


def test_a_shared_covariance_against_samples() -> None:
    torch.manual_seed(0)
    mean, weight = torch.randn(3, dtype=torch.float64), 0.6 * torch.randn(3, 3, dtype=torch.float64)
    z = mean + torch.randn(200_000, 3, dtype=torch.float64) @ weight.T
    own = MultivariateNormal(mean, weight @ weight.T).log_prob(z)
    prior = MultivariateNormal(torch.zeros(3, dtype=torch.float64), torch.eye(3, dtype=torch.float64)).log_prob(z)
    differences = own - prior
    error = float(differences.std()) / len(z) ** 0.5
    assert float(affine_kl(mean, weight)) == pytest.approx(float(differences.mean()), abs=4 * error)


def test_a_flat_covariance_is_infinitely_far() -> None:
    assert affine_kl(torch.zeros(1, 2), torch.tensor([[1.0, 0.0], [1.0, 0.0]])).item() == float("inf")
    assert affine_kl(torch.zeros(3, 2), torch.tensor([[1.0], [0.0]])).tolist() == [float("inf")] * 3
    assert affine_kl(torch.zeros(1, 2), torch.zeros(2, 2)).item() == float("inf")
    torch.manual_seed(0)
    for _ in range(20):  # small whole numbers, so that a row that is a sum of others is one exactly
        weight = torch.randint(-9, 10, (6, 6)).float()
        weight[3] = weight[0] + 2 * weight[1] - weight[5]
        assert affine_kl(torch.zeros(1, 6), weight * 2**-20).item() == float("inf")


@pytest.mark.parametrize("width", [1e-7, 1e-30])
def test_a_narrow_covariance_is_not_a_flat_one(width: float) -> None:
    """½ (1 + w² − ln w² − 2), whichever row is narrow; and rows of float32 that are next to one another."""
    expected = 0.5 * (width**2 - 1) - math.log(width)
    for order in ([1.0, width], [width, 1.0]):
        assert affine_kl(torch.zeros(1, 2), torch.tensor(order).diag()).item() == pytest.approx(expected, rel=1e-6)
    weight = torch.tensor([[1.0, 1.0], [1.0, 1.0 + 2**-23]])  # the determinant is 2^-23
    spread = float(weight.double().square().sum())
    assert affine_kl(torch.zeros(1, 2), weight).item() == pytest.approx(0.5 * (spread - 2) + 23 * math.log(2))


def test_what_is_not_finite_has_no_kl() -> None:
    """A training that diverges is told by its loss, not by the decomposition of a matrix."""
    for bad in (float("nan"), float("inf")):
        assert affine_kl(torch.zeros(2, 2), torch.tensor([[bad, 0.0], [0.0, 1.0]])).isnan().all()
