"""SVI's steps, and the gradient through them against autograd's through the unrolled steps."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch

from paraform.models.latent import svi
from paraform.models.latent.svi import gradient_through, refine, torch_kernels


@pytest.fixture
def constants(monkeypatch: pytest.MonkeyPatch) -> Callable[[float, float, float], None]:
    """Sets rate, momentum and the largest norm."""

    def fixed(*values: float) -> None:
        for name, value in zip(("RATE", "MOMENTUM", "CLIP"), values, strict=True):
            monkeypatch.setattr(svi, name, value)

    return fixed


@pytest.mark.parametrize("momentum", [0.0, 0.5])
@pytest.mark.parametrize("noisy", [False, True])
def test_the_gradient_is_that_of_the_unrolled_steps(
    momentum: float, noisy: bool, constants: Callable[[float, float, float], None]
) -> None:
    """L(λ, θ) = mean of a smooth function of λ, θ and noise; all in float64."""
    constants(0.05, momentum, 1e9)
    torch.manual_seed(0)
    theta = torch.randn(3, 4, dtype=torch.float64, requires_grad=True)
    first = torch.randn(2, 4, dtype=torch.float64)
    asked: list[bool] = []

    def loss(variables: torch.Tensor) -> torch.Tensor:
        asked.append(theta.requires_grad)
        noise = torch.randn(2, 4, dtype=torch.float64) if noisy else torch.zeros(2, 4, dtype=torch.float64)
        return ((variables + noise) @ theta.T).sin().sum() + variables.square().sum()

    torch.manual_seed(1)
    last, taken = refine(loss, first, [theta], steps=4)
    assert asked == 4 * [False] and theta.requires_grad
    last.requires_grad_()
    loss(last).backward()
    assert last.grad is not None
    found = gradient_through(loss, taken, last.grad, [theta])
    found_theta = theta.grad
    theta.grad = None

    torch.manual_seed(1)
    begun = first.clone().requires_grad_()
    variables, velocity = begun, torch.zeros_like(first)
    for _ in range(4):
        (gradient,) = torch.autograd.grad(loss(variables), variables, create_graph=True)
        velocity = momentum * velocity + 0.05 * gradient
        variables = variables - velocity
    torch.testing.assert_close(variables, last)
    loss(variables).backward()
    torch.testing.assert_close(found, begun.grad, atol=1e-5, rtol=1e-5)
    torch.testing.assert_close(found_theta, theta.grad, atol=1e-5, rtol=1e-5)


def test_steps_go_down_and_leave_the_generator_where_the_forward_pass_left_it(
    constants: Callable[[float, float, float], None],
) -> None:
    constants(0.1, 0.5, 5.0)
    torch.manual_seed(0)
    first = torch.randn(2, 4)

    def loss(variables: torch.Tensor) -> torch.Tensor:
        return (variables + 0.01 * torch.randn(2, 4) - 3).square().sum()

    last, taken = refine(loss, first, [], steps=20)
    assert float((last - 3).abs().max()) < 0.2 < float((first - 3).abs().max())
    state = torch.get_rng_state()
    gradient_through(loss, taken, torch.ones(2, 4), [])
    assert torch.equal(torch.get_rng_state(), state)


def test_a_step_is_clipped(constants: Callable[[float, float, float], None]) -> None:
    constants(1.0, 0.0, 4.0)
    last, taken = refine(lambda variables: 1e6 * variables.sum(), torch.zeros(1, 4), [], steps=1, scale=0.5)
    assert float(last.norm()) == pytest.approx(2.0)
    assert taken[0].kept == pytest.approx(1e-6)


def test_cudnn_is_left_out_on_cuda_alone_and_comes_back() -> None:
    for device, inside in (("cuda", False), ("cpu", True), ("mps", True)):
        with torch_kernels(torch.device(device)):
            assert torch.backends.cudnn.enabled is inside
        assert torch.backends.cudnn.enabled
    with pytest.raises(RuntimeError, match="in the steps"), torch_kernels(torch.device("cuda")):
        raise RuntimeError("in the steps")
    assert torch.backends.cudnn.enabled
