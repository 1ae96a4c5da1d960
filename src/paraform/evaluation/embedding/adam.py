"""Adam without `torch.optim`'s classes, whose first object imports torch's compiler, for seconds.

Shape key: K fits, A of them that run on.
"""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor
from torch.optim.adam import adam


class Adam:
    """torch's Adam of weights with one learning rate (Kingma and Ba 2015), in one pass over them."""

    def __init__(self, parameters: Sequence[Tensor], learning_rate: float) -> None:
        self.parameters, self.learning_rate = list(parameters), learning_rate
        self.means = [torch.zeros_like(parameter) for parameter in parameters]
        self.squares = [torch.zeros_like(parameter) for parameter in parameters]
        self.steps = [torch.zeros(()) for _ in parameters]

    @torch.no_grad()
    def step(self, gradients: Sequence[Tensor]) -> None:
        """Move the parameters, in place."""
        adam(
            self.parameters,
            list(gradients),
            self.means,
            self.squares,
            [],
            self.steps,
            fused=True,
            amsgrad=False,
            beta1=0.9,
            beta2=0.999,
            lr=self.learning_rate,
            weight_decay=0.0,
            eps=1e-8,
            maximize=False,
        )

    def keep(self, kept_K: Tensor) -> list[Tensor]:
        """Go on with these along the first dimension alone; returns their parameters, which are new tensors."""
        self.parameters = [parameter.detach()[kept_K].requires_grad_() for parameter in self.parameters]
        self.means = [mean[kept_K] for mean in self.means]
        self.squares = [square[kept_K] for square in self.squares]
        return self.parameters
