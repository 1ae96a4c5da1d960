"""The hinge against its equation, word by word."""

from __future__ import annotations

import pytest
import torch

from paraform.losses.distance_hinge import distance_hinge


def test_the_equation_word_by_word() -> None:
    torch.manual_seed(0)
    near, far = torch.rand(20) * 4, torch.rand(20) * 8
    found = distance_hinge(near, far, margin=3.0)
    expected = [max(0.0, float(d) + 3.0 - float(other)) for d, other in zip(near, far, strict=True)]
    assert found.tolist() == pytest.approx(expected, abs=1e-6)
    assert 0 < sum(value == 0 for value in expected) < 20


def test_what_is_far_enough_moves_nothing() -> None:
    near, far = torch.tensor([1.0, 1.0], requires_grad=True), torch.tensor([5.0, 2.0], requires_grad=True)
    distance_hinge(near, far, margin=2.0).sum().backward()
    assert near.grad is not None and far.grad is not None
    assert (near.grad.tolist(), far.grad.tolist()) == ([0.0, 1.0], [0.0, -1.0])


def test_other_shapes() -> None:
    with pytest.raises(ValueError, match=r"expected twice \[W\]"):
        distance_hinge(torch.zeros(3), torch.zeros(2), margin=1.0)
