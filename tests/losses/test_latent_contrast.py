"""The contrast of two views, row by row as eqs. 8 to 10 say it."""

from __future__ import annotations

import math

import pytest
import torch

from paraform.losses.latent_contrast import latent_contrast


def cosine(one: torch.Tensor, other: torch.Tensor) -> float:
    return float(one @ other / (one.norm() * other.norm()))


@pytest.mark.parametrize("view", ["first", "second"])
@pytest.mark.parametrize("extra", [0, 5])
def test_equals_a_loop(view: str, extra: int) -> None:
    torch.manual_seed(0)
    first, second = torch.randn(2, 4, 6, dtype=torch.float64)
    more = torch.randn(extra, 6, dtype=torch.float64)
    tau, total = 0.3, 0.0
    for i in range(4):
        own = math.exp(cosine(first[i], second[i]) / tau)
        others = [(first if view == "first" else second)[j] for j in range(4) if j != i]
        negatives = sum(math.exp(cosine(first[i], z) / tau) for z in [*others, *more])
        total -= math.log(own / (own + negatives)) / 4
    found = latent_contrast(
        first,
        second,
        temperature=tau,
        negatives_view=view,
        extra_negatives=more if extra else None,
    )
    assert found.item() == pytest.approx(total)


def test_all_alike_is_ln_n_and_one_alone_is_nothing() -> None:
    ones = torch.ones(5, 3)
    assert latent_contrast(ones, ones, temperature=0.05).item() == pytest.approx(math.log(5))
    assert latent_contrast(ones[:1], ones[:1], temperature=0.05).item() == 0


def test_gradients_flow_to_both_views() -> None:
    torch.manual_seed(0)
    first, second = torch.randn(3, 4, dtype=torch.float64), torch.randn(3, 4, dtype=torch.float64)
    first.requires_grad_()
    second.requires_grad_()
    assert torch.autograd.gradcheck(lambda a, b: latent_contrast(a, b, temperature=0.5), (first, second))


def test_wrong_shapes() -> None:
    with pytest.raises(ValueError, match="expected twice"):
        latent_contrast(torch.ones(3, 4), torch.ones(2, 4), temperature=0.5)
    with pytest.raises(ValueError, match="temperature 0"):
        latent_contrast(torch.ones(3, 4), torch.ones(3, 4), temperature=0.0)
