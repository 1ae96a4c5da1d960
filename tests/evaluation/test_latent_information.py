"""Mutual information and active units, of codes whose information is known."""

from __future__ import annotations

import math
from collections.abc import Callable

import pytest
import torch
from torch import Tensor

from paraform.evaluation.latent import active_units, batch_information, information, mutual_information


def normal_density(means: Tensor, spread: float) -> Callable[[Tensor], Tensor]:
    return lambda z: torch.distributions.Normal(means, spread).log_prob(z).sum(-1)


def test_a_lookup_code_tells_all_and_a_collapsed_one_nothing() -> None:
    means = 100.0 * torch.eye(50)
    z = (means + 0.01 * torch.randn(2, 50, 50, generator=torch.Generator().manual_seed(0))).float()
    assert mutual_information(z, normal_density(means, 0.01)) == pytest.approx(math.log(50), abs=1e-6)
    nothing = torch.randn(2, 50, 50, generator=torch.Generator().manual_seed(0))
    assert mutual_information(nothing, normal_density(torch.zeros(50, 50), 1.0)) == pytest.approx(0.0, abs=1e-6)
    assert active_units(means) == 50 and active_units(torch.randn(4000, 20, 5).mean(0)) == 0


def test_information_within_batches_is_at_most_that_of_a_batch() -> None:
    means = 100.0 * torch.eye(50)
    z = means[None].clone()
    found = batch_information(z, normal_density(means, 0.01), size=8)
    expected = (48 * math.log(8) + 2 * math.log(2)) / 50  # six batches of 8, and one of 2
    assert found == pytest.approx(expected, abs=1e-6)


def test_information_is_that_of_a_plain_double_loop(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(information, "CELLS", 40)  # several parts
    generator = torch.Generator().manual_seed(0)
    means = torch.randn(7, 2, generator=generator)
    z = means + 0.5 * torch.randn(3, 7, 2, generator=generator)

    def log_q(point: Tensor, mean: Tensor) -> float:
        return sum(
            -0.5 * ((float(p) - float(m)) / 0.5) ** 2 - math.log(0.5 * math.sqrt(2 * math.pi))
            for p, m in zip(point, mean, strict=True)
        )

    def plainly(size: int) -> float:
        total = 0.0
        for sample in range(3):
            for n in range(7):
                batch = means[n // size * size :][:size]
                aggregated = sum(math.exp(log_q(z[sample, n], mean)) for mean in batch) / len(batch)
                total += log_q(z[sample, n], means[n]) - math.log(aggregated)
        return total / 21

    density = normal_density(means, 0.5)
    assert mutual_information(z, density) == pytest.approx(plainly(7), abs=1e-5)
    for size in (1, 2, 3, 7, 32):
        assert batch_information(z, density, size=size) == pytest.approx(plainly(size), abs=1e-5)
