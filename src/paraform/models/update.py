"""What a system hands to the training loop: one optimisation step, and all that must be saved to go on after it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeAlias, final

import torch
from torch import Tensor, nn

from paraform.schedules import Schedule, constant

if TYPE_CHECKING:  # its import takes longer than a short answer
    from accelerate import Accelerator as Accelerator
else:
    Accelerator = Any

Update: TypeAlias = Callable[[Any, int], dict[str, float]]
"""`update(batch, step)` does one optimisation step and returns every loss term by name, in nats."""


@dataclass(frozen=True)
class State:
    """All of a system's training state that is not a weight of its model.

    Args:
        optimizers: by name; each goes into `training.safetensors` beside the random state.
        on_validation: hears the validation scores, by name, each time there are new ones.
    """

    optimizers: Mapping[str, torch.optim.Optimizer]
    on_validation: Callable[[Mapping[str, float]], None] = field(default=lambda scores: None)


def terms_of(**terms: Tensor) -> dict[str, float]:
    """What an update returns of its terms."""
    return {name: term.item() for name, term in terms.items()}


@final
class Stepper:
    """Steps of one optimiser: the rate of the step, gradients clipped, weights moved.

    Args:
        network: what the optimiser's weights are of.
        optimizer: each group's rate is its highest.
        rate: the factor on the rates, by step.
        clip_norm: largest norm of the gradient of each of the parts; 0: not clipped.
        parts: weights that are clipped together, by the name of their gradient's norm; None: all the optimiser's.
    """

    def __init__(
        self,
        network: nn.Module,
        optimizer: torch.optim.Optimizer,
        accelerator: Accelerator,
        *,
        rate: Schedule | None = None,
        clip_norm: float = 0.0,
        parts: Mapping[str, Sequence[Tensor]] | None = None,
    ) -> None:
        every = [weight for group in optimizer.param_groups for weight in group["params"]]
        self.parts = {"gradient_norm": every} if parts is None else dict(parts)
        self.network, self._prepared = accelerator.prepare(network, optimizer)
        self._optimizer, self._accelerator = optimizer, accelerator
        self._highest = [group["lr"] for group in optimizer.param_groups]
        self._rate, self._limit = rate or constant(), clip_norm or float("inf")

    def begin(self, step: int) -> None:
        """That step's rates, and no gradients."""
        for group, highest in zip(self._optimizer.param_groups, self._highest, strict=True):
            group["lr"] = highest * self._rate(step)
        self._prepared.zero_grad()

    def end(self) -> dict[str, Tensor]:
        """Move the weights by the gradients, clipped; returns their norms as they were, by name."""
        norms = {name: self._accelerator.clip_grad_norm_(part, self._limit) for name, part in self.parts.items()}
        self._prepared.step()
        return norms

    def __call__(self, loss: Tensor, step: int) -> dict[str, Tensor]:
        """All of a step on one loss; returns what `end` does."""
        self.begin(step)
        self._accelerator.backward(loss)
        return self.end()


class _Gather(torch.autograd.Function):
    """all_gather forwards; backwards every process sums all gradients and keeps its own rows'."""

    @staticmethod
    def forward(ctx: Any, local: Tensor) -> Tensor:
        ctx.rows = local.shape[0]
        parts = [torch.empty_like(local) for _ in range(torch.distributed.get_world_size())]
        torch.distributed.all_gather(parts, local.contiguous())
        return torch.cat(parts)

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> Tensor:
        summed = gradients[0].clone(memory_format=torch.contiguous_format)
        torch.distributed.all_reduce(summed)
        start = torch.distributed.get_rank() * ctx.rows
        return summed[start : start + ctx.rows]


def gather_with_gradient(local: Tensor) -> Tensor:
    """[B, …] of this process → [W·B, …] of all, in the order of ranks; the gradient flows back to every process.

    A loss over the gathered rows is computed whole in each of W processes: the backward pass sums W equal gradients
    and DDP's average divides them by W again, so the update is that of one process with the whole batch.
    """
    if not torch.distributed.is_initialized() or torch.distributed.get_world_size() == 1:
        return local
    gather: Callable[[Tensor], Tensor] = _Gather.apply  # torch leaves it untyped
    return gather(local)
