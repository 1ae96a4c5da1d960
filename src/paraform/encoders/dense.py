"""A linear map behind an encoder's pooling: a Dense module of sentence-transformers without an activation.

Shape key: B texts, D features of the pooled states, E features of the vector.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, final

import torch
from torch import Tensor

from paraform.records import InputError
from paraform.weights import load_tensors

IDENTITY = "torch.nn.modules.linear.Identity"


@final
@dataclass(frozen=True, eq=False)
class Dense:
    """v → W v + b, float32."""

    weight_ED: Tensor
    bias_E: Tensor

    def __call__(self, vectors_BD: Tensor) -> Tensor:
        return torch.nn.functional.linear(vectors_BD, self.weight_ED, self.bias_E)

    @property
    def digest(self) -> str:
        """SHA-256 of the numbers, for signatures."""
        parts = [part.detach().float().cpu().contiguous().numpy().tobytes() for part in (self.weight_ED, self.bias_E)]
        return hashlib.sha256(b"".join(parts)).hexdigest()

    def to(self, device: torch.device) -> Dense:
        return Dense(self.weight_ED.to(device), self.bias_E.to(device))

    def settings(self) -> dict[str, Any]:
        """config.json of the module's folder."""
        width, inside = self.weight_ED.shape
        return {"in_features": inside, "out_features": width, "bias": True, "activation_function": IDENTITY}

    def tensors(self) -> dict[str, Tensor]:
        """model.safetensors of the module's folder."""
        return {"linear.weight": self.weight_ED.contiguous(), "linear.bias": self.bias_E.contiguous()}


def is_linear(config: Mapping[str, Any]) -> bool:
    """Whether the config.json of a module is that of a `Dense`, from as many features to as many."""
    own = {"in_features", "out_features", "bias", "activation_function"}
    return (
        set(config) <= own | {"module_input_name", "module_output_name"}
        and config.get("activation_function") == IDENTITY
        and config.get("in_features") == config.get("out_features")
        and config.get("bias", True) is True
        and config.get("module_input_name", "sentence_embedding") == "sentence_embedding"
        and config.get("module_output_name") in (None, "sentence_embedding")
    )


def read_dense(path: Path, width: int) -> Dense:
    """The map of a module's weights.

    Args:
        width: D, features of the encoder's states.
    Raises: InputError if the weights are not of this shape, or as `load_tensors`.
    """
    tensors = load_tensors(path)
    weight_ED, bias_E = tensors.get("linear.weight"), tensors.get("linear.bias")
    if weight_ED is None or bias_E is None or weight_ED.shape != (width, width) or bias_E.shape != (width,):
        shapes = {name: list(tensor.shape) for name, tensor in tensors.items()}
        raise InputError(f"{path}: {shapes}; expected linear.weight [{width}, {width}] and linear.bias [{width}]")
    return Dense(weight_ED.float(), bias_E.float())
