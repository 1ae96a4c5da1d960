"""Steps of stochastic variational inference, and the gradient through them (Kim et al. 2018, algorithms 2 and 3).

    λ_{k+1} = λ_k − v_{k+1},  v_{k+1} = m v_k + α clip(∇_λ L(λ_k)),  α = `RATE`, m = `MOMENTUM`

Backwards, the products with the Hessian of L come from differences of gradients, so that no second derivative of the
decoder is needed. The loss is the batch's mean, as the authors have it.

Shape key: B sentences, Z latent.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, NamedTuple, TypeAlias

import torch
from torch import Tensor

Loss: TypeAlias = Callable[[Tensor], Tensor]
"""λ → the loss, a scalar; draws its noise from torch's own generator."""

RATE, MOMENTUM = 1.0, 0.5  # theirs
CLIP = 5.0  # the largest norm of a step's gradient, of a batch; theirs
NUDGE = 1e-3  # how far λ is moved, as a norm, for a difference of gradients


class Step(NamedTuple):
    """What going back through a step needs: where it began, the generator's state there, and the factor of clipping."""

    variables: Tensor
    random: Tensor
    kept: float


def refine(
    loss: Loss,
    variables: Tensor,
    weights: Iterable[Tensor],
    *,
    steps: int,
    scale: float = 1.0,
) -> tuple[Tensor, list[Step]]:
    """λ after that many steps, without a gradient, and what `gradient_through` needs.

    Args:
        variables: λ before them.
        weights: arguments of `vocabulary_nll`, which does not see that nobody asks for their gradient, a third of its
            products.
        scale: factor on the largest norm of a step's gradient.
    """
    variables = variables.detach()
    velocity = torch.zeros_like(variables)
    taken: list[Step] = []
    with _frozen(weights):
        for _ in range(steps):
            random = _random(variables.device).get_rng_state()
            (gradient,) = _gradients(loss, variables, [])
            kept = min(1.0, scale * CLIP / (float(gradient.norm()) + 1e-6))
            taken.append(Step(variables, random, kept))
            velocity = MOMENTUM * velocity + RATE * kept * gradient
            variables = variables - velocity
    return variables, taken


@contextmanager
def torch_kernels(device: torch.device) -> Iterator[None]:
    """Inside, an LSTM on a GPU runs by torch's own kernels: cuDNN's have no backward pass in evaluation mode.

    For refining without dropout. Elsewhere than on CUDA nothing changes, and in training mode cuDNN's are faster.
    """
    enabled = torch.backends.cudnn.enabled
    torch.backends.cudnn.enabled = enabled and device.type != "cuda"
    try:
        yield
    finally:
        torch.backends.cudnn.enabled = enabled


@contextmanager
def _frozen(weights: Iterable[Tensor]) -> Iterator[None]:
    learned = [weight for weight in weights if weight.requires_grad]
    for weight in learned:
        weight.requires_grad_(False)
    try:
        yield
    finally:
        for weight in learned:
            weight.requires_grad_(True)


def gradient_through(
    loss: Loss,
    taken: Sequence[Step],
    from_last: Tensor,
    parameters: Sequence[Tensor],
) -> Tensor:
    """From the gradient of λ after the steps that of λ before them; what goes to the parameters is added to theirs.

    A factor of clipping counts as a constant, as in the authors' code.
    """
    to_variables = from_last.clone()
    to_velocity = torch.zeros_like(from_last)
    after = _random(from_last.device).get_rng_state()
    for variables, random, kept in reversed(taken):
        to_velocity = MOMENTUM * to_velocity - to_variables
        along = RATE * kept * to_velocity
        size = float(along.norm())
        if size == 0:
            continue
        gradients = []
        for at in (variables + along * (NUDGE / size), variables - along * (NUDGE / size)):
            _random(variables.device).set_rng_state(random)  # the same noise and the same dropout as in the step itself
            gradients.append(_gradients(loss, at, parameters))
        # (∇L(λ + εu) − ∇L(λ − εu)) / 2ε = H u
        products = [(plus - minus) * (size / (2 * NUDGE)) for plus, minus in zip(*gradients, strict=True)]
        to_variables = to_variables + products[0]
        for parameter, product in zip(parameters, products[1:], strict=True):
            parameter.grad = product if parameter.grad is None else parameter.grad + product
    _random(from_last.device).set_rng_state(after)
    return to_variables


def _gradients(loss: Loss, variables: Tensor, parameters: Sequence[Tensor]) -> tuple[Tensor, ...]:
    variables = variables.detach().requires_grad_()
    with torch.enable_grad():
        return torch.autograd.grad(loss(variables), [variables, *parameters])


def _random(device: torch.device) -> Any:
    """What has `get_rng_state` and `set_rng_state` for that device."""
    return torch if device.type == "cpu" else torch.get_device_module(device)
