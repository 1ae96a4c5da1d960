"""KL by a critic: the best one, one that tells nothing, and every form of the circle loss written out."""

from __future__ import annotations

import math

import pytest
import torch

from paraform.losses.dual_kl import circle_loss, circle_posterior_term, dual_kl, squared_differences

POSTERIOR, PRIOR = [0.5, -1.0, 2.0], [-0.3, 0.8, -2.0, 0.1]


@pytest.mark.parametrize("mean", [0.0, 0.5, 1.5])
def test_the_best_critic_gives_kl(mean: float) -> None:
    """Of N(m, 1) from N(0, 1): f(z) = ln q/p = mz − m²/2, so E_q f = m²/2, E_p e^f = 1, KL = m²/2."""
    places = (torch.arange(400_000, dtype=torch.float64) + 0.5) / 400_000
    prior = torch.special.ndtri(places)  # quantiles, so that a mean over them is an expectation
    posterior = prior + mean

    def critic(z: torch.Tensor) -> torch.Tensor:
        return mean * z - mean**2 / 2

    assert dual_kl(critic(posterior), critic(prior)).item() == pytest.approx(mean**2 / 2, abs=1e-3)
    worse = dual_kl(0.9 * critic(posterior), 0.9 * critic(prior)).item()
    assert worse <= mean**2 / 2 + 1e-3


@pytest.mark.parametrize("value", [-2.0, 0.0, 0.7])
def test_a_constant_critic(value: float) -> None:
    found = dual_kl(torch.full((3,), value), torch.full((5,), value)).item()
    assert found == pytest.approx(value - math.exp(value) + 1, abs=1e-6)
    assert found <= 0  # ln x ≤ x − 1


def test_the_circle_losses_written_out() -> None:
    f, p = torch.tensor(POSTERIOR, dtype=torch.float64), torch.tensor(PRIOR, dtype=torch.float64)

    def one_plus(x: float) -> float:
        return math.log(1 + math.exp(x))

    mean = one_plus(-sum(POSTERIOR) / 3) + one_plus(sum(math.exp(x) for x in PRIOR) / 4)
    total = one_plus(-sum(POSTERIOR)) + one_plus(sum(math.exp(x) for x in PRIOR))
    each = math.log(1 + sum(math.exp(-x) for x in POSTERIOR)) + math.log(1 + sum(math.exp(math.exp(x)) for x in PRIOR))
    assert circle_loss(f, p, reduction="mean").item() == pytest.approx(mean)
    assert circle_loss(f, p, reduction="sum").item() == pytest.approx(total)
    assert circle_loss(f, p, reduction="each").item() == pytest.approx(each)


@pytest.mark.parametrize("reduction", ["mean", "sum", "each"])
def test_the_circle_loss_falls_towards_its_constraint(reduction: str) -> None:
    """E_q f ≫ 0 ≫ f on the prior; there E_p e^f is 0, and what is left is ln(1 + e⁰), or ln(1 + 4 e⁰) of each."""
    far = circle_loss(torch.full((3,), 50.0), torch.full((4,), -50.0), reduction=reduction)
    least = math.log(5) if reduction == "each" else math.log(2)
    assert far.item() == pytest.approx(least, abs=1e-6)
    near = circle_loss(torch.zeros(3), torch.zeros(4), reduction=reduction)
    assert near.item() > far.item()


@pytest.mark.parametrize("reduction", ["mean", "sum", "each"])
def test_the_encoder_term_of_the_paper_pushes_the_critic_up(reduction: str) -> None:
    values = torch.tensor(POSTERIOR, requires_grad=True)
    circle_posterior_term(values, reduction=reduction).backward()
    assert values.grad is not None and bool((values.grad < 0).all())  # a step against it raises f, and with it KL


def test_squared_differences() -> None:
    assert squared_differences(torch.tensor([1.0, 2.0]), torch.tensor([0.0, 4.0])).item() == 5.0
