"""The penalty in closed form: of c I, of a rotation, and its gradient."""

from __future__ import annotations

import math

import pytest
import torch

from paraform.losses.orthogonality import orthogonality_penalty


def test_closed_forms() -> None:
    for width in (1, 5, 16):
        assert orthogonality_penalty(2 * torch.eye(width)).item() == pytest.approx(3 * math.sqrt(width), rel=1e-6)
    torch.manual_seed(0)
    turn, _ = torch.linalg.qr(torch.randn(6, 6, dtype=torch.float64))
    assert orthogonality_penalty(turn).item() == pytest.approx(0, abs=1e-12)
    scales = torch.tensor([0.5, 1.0, 3.0], dtype=torch.float64)  # of U diag(s) V: (Σ (1 − s²)²)^½
    made = turn[:3, :3].new_tensor(torch.linalg.qr(torch.randn(3, 3, dtype=torch.float64))[0].tolist()) * scales
    several = torch.stack([2 * torch.eye(4), torch.eye(4), 3 * torch.eye(4)])  # the sum of each one's
    assert orthogonality_penalty(several).item() == pytest.approx((3 + 0 + 8) * 2, rel=1e-6)
    assert orthogonality_penalty(made).item() == pytest.approx(float((1 - scales**2).square().sum().sqrt()), rel=1e-9)


def test_at_the_identity_the_gradient_is_0_and_elsewhere_that_of_the_norm() -> None:
    identity = torch.eye(4, requires_grad=True)
    orthogonality_penalty(identity).backward()
    assert identity.grad is not None and torch.equal(identity.grad, torch.zeros(4, 4))
    torch.manual_seed(1)
    matrix = torch.randn(3, 3, dtype=torch.float64, requires_grad=True)
    assert torch.autograd.gradcheck(orthogonality_penalty, (matrix,))


@pytest.mark.parametrize("shape", [(3, 2), (3,)])
def test_other_shapes(shape: tuple[int, ...]) -> None:
    with pytest.raises(ValueError, match="expected a square one"):
        orthogonality_penalty(torch.zeros(shape))
