"""The adversary's loss against the paper's sum and a peer's."""

from __future__ import annotations

import doctest
import math

import pytest
import torch

from paraform.losses import bag_of_constituents as module
from paraform.losses.bag_of_constituents import bag_loss


def test_the_papers_equation() -> None:
    """L_adv = −Σ_t h(t) ln y_h(t), y_h = softmax(W ū + b), by a double loop; the mean over sentences."""
    torch.manual_seed(0)
    logits, bag = torch.randn(5, 7), torch.rand(5, 7)
    total = 0.0
    for row, shares in zip(logits.tolist(), bag.tolist(), strict=True):
        bottom = sum(math.exp(value) for value in row)
        total -= sum(share * math.log(math.exp(value) / bottom) for value, share in zip(row, shares, strict=True))
    assert bag_loss(logits, bag).item() == pytest.approx(total / 5, rel=1e-5)


def test_the_codes_loss() -> None:
    """Binary cross-entropy of each part of the bag, the mean of all."""
    logits, bag = torch.tensor([[0.0, 2.0]]), torch.tensor([[0.25, 1.0]])
    expected = (math.log(2) + math.log(1 + math.exp(-2))) / 2
    assert bag_loss(logits, bag, kind="sigmoid").item() == pytest.approx(expected, rel=1e-6)


def test_the_least_is_the_bags_own_entropy() -> None:
    bag = torch.tensor([[0.5, 0.25, 0.25]])
    assert bag_loss(bag.log(), bag).item() == pytest.approx(-(bag * bag.log()).sum().item(), rel=1e-6)


@pytest.mark.parametrize("shapes", [((2, 3), (2, 4)), ((3,), (3,))])
def test_other_shapes(shapes: tuple[tuple[int, ...], tuple[int, ...]]) -> None:
    with pytest.raises(ValueError, match=r"expected twice \[B, C\]"):
        bag_loss(torch.zeros(shapes[0]), torch.zeros(shapes[1]))


def test_example() -> None:
    assert doctest.testmod(module).failed == 0
