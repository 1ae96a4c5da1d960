"""The mean of the weights that a run passes through: stochastic weight averaging (Izmailov et al. 2018)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager

import torch
from torch import Tensor, nn

from paraform.checkpoint.folder import spread, whole
from paraform.records import InputError

PREFIX = "average."


class Average:
    """The mean of a model's trained weights over the moments it was told of.

    Args:
        model: under FSDP, already spread.
    """

    def __init__(self, model: nn.Module) -> None:
        self._weights = {name: weight for name, weight in model.named_parameters() if weight.requires_grad}
        self._means: dict[str, Tensor] = {}
        self._count = 0

    @torch.no_grad()
    def add(self) -> None:
        """The weights as they are now count too."""
        self._count += 1
        for name, weight in self._weights.items():
            if self._count == 1:
                self._means[name] = weight.detach().clone()
            else:
                self._means[name].lerp_(weight, 1 / self._count)

    @contextmanager
    def in_model(self) -> Iterator[None]:
        """Inside, the model has the mean, if there is one."""
        kept = {name: self._weights[name].detach().clone() for name in self._means}
        self._put(self._means)
        try:
            yield
        finally:
            self._put(kept)

    @torch.no_grad()
    def _put(self, tensors: Mapping[str, Tensor]) -> None:
        for name, tensor in tensors.items():
            self._weights[name].copy_(tensor)

    def pack(self) -> dict[str, Tensor]:
        """The mean, on the CPU, for `training.safetensors`. Under FSDP every process must call it."""
        return {PREFIX + name: whole(mean).cpu() for name, mean in self._means.items()}

    def unpack(self, count: int, tensors: Mapping[str, Tensor]) -> None:
        """Be what was packed, of that many moments. Raises: InputError if the mean of a weight is missing."""
        self._count = count
        for name, weight in self._weights.items() if count else ():
            if PREFIX + name not in tensors or tensors[PREFIX + name].shape != weight.shape:
                raise InputError(
                    f"the saved run has no mean of {name!r} {list(weight.shape)}; expected one of its size"
                )
            mean = spread(tensors[PREFIX + name], weight, dtype=weight.dtype)
            self._means[name] = mean.to(weight.device)
