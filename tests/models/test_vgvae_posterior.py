"""The von Mises–Fisher's samples against scipy's moments, their gradient against a difference of expectations."""

from __future__ import annotations

import math

import numpy as np
import pytest
import torch
import torch.nn.functional as F
from scipy.stats import kstest, vonmises_fisher

from paraform.models.latent.posterior import Diagonal
from paraform_papers.rivals.vgvae.posterior import Noise, Product, VonMisesFisher, drawn_along
from paraform_papers.rivals.vgvae.von_mises_fisher import log_uniform

DRAWS = 40_000


def noise(count: int, seed: int = 0) -> Noise:
    return Noise(torch.Generator().manual_seed(seed), count)


def repeated(mu: torch.Tensor, kappa: torch.Tensor, count: int = DRAWS) -> VonMisesFisher:
    return VonMisesFisher(mu.expand(count, -1), kappa.expand(count))


@pytest.mark.parametrize(("width", "concentration"), [(3, 1.0), (3, 60.0), (10, 5.0), (50, 1.0), (50, 40.0), (20, 3e3)])
def test_moments_are_scipys(width: int, concentration: float) -> None:
    """Mean and second moments of as many draws; and t has scipy's distribution, by Kolmogorov and Smirnov."""
    mu = F.normalize(torch.arange(1.0, width + 1), dim=0)
    y = repeated(mu, torch.tensor(concentration)).draw(noise(DRAWS)).double().numpy()
    assert np.linalg.norm(y, axis=1) == pytest.approx(1, abs=1e-5)
    other = vonmises_fisher(mu.double().numpy() / np.linalg.norm(mu.double().numpy()), concentration)
    theirs = other.rvs(DRAWS, random_state=np.random.default_rng(1))
    for ours, expected in ((y, theirs), (y**2, theirs**2), (y[:, :1] * y, theirs[:, :1] * theirs)):
        error = 5 * np.sqrt((ours.var(0) + expected.var(0)) / DRAWS) + 1e-6
        assert (abs(ours.mean(0) - expected.mean(0)) < error).all()
    assert kstest(y @ mu.double().numpy(), theirs @ mu.double().numpy()).pvalue > 1e-4
    mean = repeated(mu, torch.tensor(concentration), 1).mean().double().numpy()[0]
    assert (abs(y.mean(0) - mean) < 5 * y.std(0) / math.sqrt(DRAWS) + 1e-6).all()


def test_the_kl_is_the_mean_of_the_log_ratio() -> None:
    for width, concentration in ((3, 4.0), (50, 1.5), (50, 90.0)):
        some = repeated(F.normalize(torch.ones(width), dim=0), torch.tensor(concentration))
        ratio = some.log_density(some.draw(noise(DRAWS))).double() - log_uniform(width)
        error = float(ratio.std()) / math.sqrt(DRAWS)
        assert float(some.kl()[0]) == pytest.approx(float(ratio.mean()), abs=5 * error + 1e-4)


@pytest.mark.parametrize(("width", "concentration"), [(3, 2.0), (10, 6.0), (50, 30.0)])
def test_the_gradient_is_that_of_the_expectation(width: int, concentration: float) -> None:
    """Of E[f(y)], f(y) = exp(a·y) + (b·y)², in κ and along the sphere in μ, against differences of expectations.

    f is of two directions, so that E is an integral over t and the cosine of one angle, which is summed on a grid.
    """
    a, b = torch.zeros(width, dtype=torch.float64), torch.zeros(width, dtype=torch.float64)
    a[0], b[1] = 1.5, 1.0

    def expectation(kappa: float, turn: float) -> float:
        """μ = (cos turn, sin turn, 0 …); y = t μ + √(1−t²) (c ν + √(1−c²) …), ν = (−sin turn, cos turn, 0 …)."""
        t = torch.linspace(-1, 1, 4001, dtype=torch.float64)[1:-1]
        c = torch.cos(torch.linspace(0, math.pi, 1001, dtype=torch.float64))
        angle = torch.linspace(0, math.pi, 1001, dtype=torch.float64)
        along = kappa * t + (width - 3) / 2 * torch.log1p(-t * t)
        weight_t = (along - along.max()).exp()
        weight_c = angle.sin() ** (width - 3)  # dc (1 − c²)^{(M−4)/2}
        if width == 3:
            weight_c = torch.ones_like(c)
            weight_c[[0, -1]] = 0.5
        r = (1 - t * t).sqrt()[:, None] * c
        first = t[:, None] * math.cos(turn) - r * math.sin(turn)
        second = t[:, None] * math.sin(turn) + r * math.cos(turn)
        weight = weight_t[:, None] * weight_c
        return float((((1.5 * first).exp() + second.square()) * weight).sum() / weight.sum())

    turn, step = 0.7, 1e-3
    expected_kappa = (expectation(concentration + step, turn) - expectation(concentration - step, turn)) / (2 * step)
    expected_turn = (expectation(concentration, turn + step) - expectation(concentration, turn - step)) / (2 * step)
    count = 200_000 if width < 50 else 60_000
    kappa = torch.full((count,), concentration, dtype=torch.float64, requires_grad=True)
    turned = torch.full((count,), turn, dtype=torch.float64, requires_grad=True)
    rest = torch.zeros(count, width - 2, dtype=torch.float64)
    mu = torch.cat([turned.cos()[:, None], turned.sin()[:, None], rest], 1)
    y = VonMisesFisher(mu, kappa).draw(noise(count))
    value = (y @ a).exp() + (y @ b).square()
    assert value.mean().item() == pytest.approx(
        expectation(concentration, turn), abs=5 * value.std().item() / count**0.5
    )
    value.sum().backward()
    for gradient, expected in ((kappa.grad, expected_kappa), (turned.grad, expected_turn)):
        assert gradient is not None
        error = float(gradient.std()) / math.sqrt(count)
        assert float(gradient.mean()) == pytest.approx(expected, abs=5 * error + 1e-4), (expected, error)


def test_processes_that_share_a_batch_draw_as_one_would() -> None:
    kappa, mu = torch.linspace(1, 60, 12), F.normalize(torch.randn(12, 50), dim=1)
    whole = VonMisesFisher(mu, kappa).draw(noise(12))
    for rank in range(3):
        rows = torch.arange(rank, 12, 3)
        own = Noise(torch.Generator().manual_seed(0), 12, rows)
        torch.testing.assert_close(VonMisesFisher(mu[rows], kappa[rows]).draw(own), whole[rows])


def test_uniform_and_narrow_ends() -> None:
    """κ = 0 is uniform: t of three dimensions is even from −1 to 1; κ = 1e4 stays on the sphere, gradients finite."""
    t = drawn_along(torch.zeros(DRAWS), 3, noise(DRAWS)).numpy()
    assert kstest((t + 1) / 2, "uniform").pvalue > 1e-4
    kappa = torch.full((100,), 1e4, requires_grad=True)
    mu = F.normalize(torch.ones(100, 50), dim=1).requires_grad_()
    y = VonMisesFisher(mu, kappa).draw(noise(100))
    y.square().mul(torch.arange(50.0)).sum().backward()
    assert kappa.grad is not None and mu.grad is not None
    assert bool(kappa.grad.isfinite().all()) and bool(mu.grad.isfinite().all()) and bool((y @ mu[0] > 0.99).all())


def test_what_is_not_a_number_stays_so_and_the_others_are_drawn() -> None:
    """Rejection ends, though no proposal for NaN is ever taken: of a training that diverged the loss is NaN."""
    kappa = torch.tensor([5.0, math.nan, 40.0], requires_grad=True)
    mu = F.normalize(torch.ones(3, 6), dim=1)
    some = VonMisesFisher(mu, kappa)
    y = some.draw(noise(3))
    assert y.isfinite().all(1).tolist() == some.kl().isfinite().tolist() == [True, False, True]
    assert drawn_along(torch.tensor([math.inf, 3.0]), 6, noise(2)).isfinite().tolist() == [False, True]
    torch.testing.assert_close(some.kl()[[0, 2]], VonMisesFisher(mu[:2], kappa[[0, 2]]).kl())


def test_draws_are_the_same_where_no_gradient_is_asked_for() -> None:
    kappa, mu = torch.linspace(1, 60, 12, requires_grad=True), F.normalize(torch.randn(12, 50), dim=1)
    with torch.no_grad():
        plain = VonMisesFisher(mu, kappa).draw(noise(12))
    assert torch.equal(VonMisesFisher(mu, kappa).draw(noise(12)), plain)


def product() -> Product:
    torch.manual_seed(3)
    direction = F.normalize(torch.randn(4, 6), dim=1)
    return Product(VonMisesFisher(direction, torch.tensor([1.0, 5.0, 20.0, 90.0])), Diagonal(*torch.randn(2, 4, 3)))


def test_a_product_is_packed_and_tempered() -> None:
    """∝ q^s p^(1 − s): the log-densities of tempered, posterior and prior differ by one number for all samples."""
    some = product()
    again = Product.of(some.packed(), 6)
    for one, other in zip((*some.semantic, *some.syntax), (*again.semantic, *again.syntax), strict=True):
        assert torch.equal(one, other)
    drawn = some.sample(50, torch.Generator().manual_seed(0))
    prior = log_uniform(6) - 0.5 * (drawn[..., 6:].square() + math.log(2 * math.pi)).sum(-1)
    for share in (0.0, 0.3, 1.0):
        tempered = some.tempered(share)
        rest = tempered.log_density(drawn) - share * some.log_density(drawn) - (1 - share) * prior
        assert rest.std(0).max().item() < 1e-5
    assert some.rows(slice(1, 3)).log_density(drawn[:, 1:3]).equal(some.log_density(drawn)[:, 1:3])
    assert some.tempered(0.0).kl().abs().max().item() < 1e-6


def test_samples_of_a_product_have_its_mean_and_kl() -> None:
    some = product()
    drawn = some.sample(20_000, torch.Generator().manual_seed(0))
    error = 5 * drawn.std(0) / 20_000**0.5 + 1e-5
    assert bool(((drawn.mean(0) - some.mean()).abs() < error).all())
    prior = log_uniform(6) - 0.5 * (drawn[..., 6:].square() + math.log(2 * math.pi)).sum(-1)
    ratio = some.log_density(drawn) - prior
    assert bool(((ratio.mean(0) - some.kl()).abs() < 5 * ratio.std(0) / 20_000**0.5).all())
