"""A linear map behind an encoder's pooling: a Dense module of sentence-transformers without an activation.

Shape key: B texts, D features of the pooled states, E features of the vector.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import Any, final

import torch
from torch import Tensor

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
