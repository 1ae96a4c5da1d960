"""The von Mises–Fisher closed forms against scipy, its Bessel functions, and integrals over one number."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import pytest
import torch
from scipy.integrate import quad
from scipy.special import ive
from scipy.stats import vonmises_fisher

from paraform_papers.rivals.vgvae.von_mises_fisher import implicit_slope, log_mgf, log_uniform, mean_length, vmf_kl

CASES = [(3, 0.5), (3, 80.0), (10, 2.0), (50, 1.0), (50, 30.0), (50, 400.0), (128, 1.0)]


def marginal(width: int, concentration: float) -> tuple[float, float]:
    """E[t] and KL by numeric integration of p(t) ∝ e^{κt} (1 − t²)^{(M−3)/2}."""

    def log_integral(of: Callable[[float], float], kappa: float) -> float:
        def log_u(t: float) -> float:
            return kappa * t + (width - 3) / 2 * math.log1p(-t * t)

        peak = max(map(log_u, np.linspace(-0.999, 0.999, 999)))
        value, _ = quad(lambda t: math.exp(log_u(t) - peak) * of(t), -1 + 1e-15, 1 - 1e-15, limit=400, points=[0, 0.5])
        return math.log(value) + peak

    log_z, log_uniform_z = log_integral(lambda t: 1, concentration), log_integral(lambda t: 1, 0)
    mean = math.exp(log_integral(lambda t: 1 + t, concentration) - log_z) - 1
    return mean, concentration * mean - log_z + log_uniform_z


@pytest.mark.parametrize(("width", "concentration"), CASES)
def test_mean_and_kl_are_those_of_numeric_integration(width: int, concentration: float) -> None:
    kappa = torch.tensor([concentration], dtype=torch.float64)
    mean, kl = marginal(width, concentration)
    assert mean_length(kappa, width).item() == pytest.approx(mean, rel=1e-7)
    assert vmf_kl(kappa, width).item() == pytest.approx(kl, rel=1e-6, abs=1e-8)


@pytest.mark.parametrize(("width", "concentration"), [(3, 0.5), (10, 2.0), (50, 30.0), (50, 400.0), (50, 9000.0)])
def test_densities_are_scipys(width: int, concentration: float) -> None:
    """ln p(y) = κ μ·y − ψ(κ) + ln of the uniform density; A(κ) is a ratio of scaled Bessel functions."""
    mu = np.eye(width)[0]
    y = vonmises_fisher(mu, max(concentration, 1)).rvs(5, random_state=np.random.default_rng(0))
    kappa = torch.tensor(concentration, dtype=torch.float64)
    ours = concentration * y @ mu - log_mgf(kappa, width).item() + log_uniform(width)
    assert ours == pytest.approx(vonmises_fisher(mu, concentration).logpdf(y), rel=1e-9)
    order = width / 2
    assert mean_length(kappa, width).item() == pytest.approx(ive(order, concentration) / ive(order - 1, concentration))
    if width > 3:  # of scipy's entropy, beside the uniform's
        entropy = vonmises_fisher(mu, concentration).entropy()
        assert vmf_kl(kappa, width).item() == pytest.approx(-entropy - log_uniform(width), rel=1e-6, abs=1e-9)


def test_a_kl_of_zero_and_gradients() -> None:
    """dKL/dκ = κ A'(κ); κ = 0 is the uniform distribution."""
    assert vmf_kl(torch.zeros(2), 50).tolist() == [0.0, 0.0]
    kappa = torch.tensor([0.3, 7.0, 200.0], dtype=torch.float64, requires_grad=True)
    assert torch.autograd.gradcheck(lambda k: vmf_kl(k, 50), (kappa,))
    mean = mean_length(kappa.detach(), 50)
    slope = 1 - mean.square() - 49 * mean / kappa.detach()
    vmf_kl(kappa, 50).sum().backward()
    torch.testing.assert_close(kappa.grad, kappa.detach() * slope)


@pytest.mark.parametrize("concentration", [1.1e4, 1e30, math.inf])
def test_a_concentration_that_is_too_large(concentration: float) -> None:
    """By so many terms as it would take memory would end."""
    for function in (log_mgf, mean_length, vmf_kl):
        with pytest.raises(ValueError, match="expected 0 to 10000"):
            function(torch.tensor([1.0, concentration]), 50)
    assert math.isnan(vmf_kl(torch.tensor(math.nan), 50).item())


@pytest.mark.parametrize(
    ("width", "concentration"), [(3, 0.5), (3, 80.0), (10, 2.0), (50, 1.0), (50, 60.0), (50, 5000.0)]
)
def test_samples_move_as_the_quantile_does(width: int, concentration: float) -> None:
    """Finite differences of the inverse of a distribution function that is summed on a fine grid."""
    deviation = float((1 - mean_length(torch.tensor(concentration), width) ** 2) ** 0.5)
    centre = mean_length(torch.tensor(concentration, dtype=torch.float64), width).item()
    spread = max(1e-3, min(1.0, 3 * deviation / math.sqrt(max(1.0, width - 1))))
    grid = np.linspace(max(-1, centre - 12 * spread), min(1, centre + 12 * spread), 2_000_001)[1:-1]

    def quantiles(kappa: float, shares: np.ndarray) -> np.ndarray:
        log_u = kappa * grid + (width - 3) / 2 * np.log1p(-(grid**2))
        density = np.exp(log_u - log_u.max())
        summed = np.concatenate([[0.0], np.cumsum((density[1:] + density[:-1]) / 2)])
        return np.interp(shares, summed / summed[-1], grid)

    shares = np.array([0.01, 0.2, 0.5, 0.8, 0.99])
    step = 1e-3 * concentration
    found = quantiles(concentration, shares)
    expected = (quantiles(concentration + step, shares) - quantiles(concentration - step, shares)) / (2 * step)
    ours = implicit_slope(torch.tensor(found), torch.full((5,), concentration, dtype=torch.float64), width)
    assert ours.numpy() == pytest.approx(expected, rel=2e-3, abs=1e-3 * expected.max())
