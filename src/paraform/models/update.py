"""What a system hands to the training loop: one optimisation step, and all that must be saved to go on after it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeAlias

import torch
from torch import Tensor

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
