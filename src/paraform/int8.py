"""Products of bytes, on processors that multiply them four at once (VNNI): int8 by uint8, summed in int32.

By oneDNN, through the operators that torch's compiler uses, too.

Shape key: N rows, K features that are summed over, E columns of the product.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import Any, final

import torch
from torch import Tensor

from paraform.records import InputError

_ops: Any = torch.ops.onednn
VNNI = ("avx512_vnni", "avx_vnni", "amx_int8")


def has_int8(device: torch.device) -> bool:
    """Whether bytes are multiplied exactly there, and fast: elsewhere oneDNN has slow ways, or ones that saturate."""
    able = torch.cpu.get_capabilities()
    return device.type == "cpu" and any(able.get(name) for name in VNNI) and _is_exact()


@cache
def _is_exact() -> bool:
    """Of the largest bytes: `ONEDNN_MAX_CPU_ISA` may have taken from oneDNN what the processor has."""
    if not hasattr(_ops, "qlinear_pointwise"):
        return False
    largest_1K = torch.full((1, 64), 127, dtype=torch.int8)
    found = Int8Matrix.of(largest_1K, torch.ones(1)).product(torch.full((1, 64), 255, dtype=torch.uint8), 0)
    return float(found) == 64 * 127 * 255


def require_int8(device: torch.device) -> None:
    """Raises: InputError where there is no `has_int8`."""
    if not has_int8(device):
        lacks = "this processor has no VNNI, which multiplies bytes" if device.type == "cpu" else f"on {device}"
        raise InputError(f"products int8: {lacks}; expected float32 or bfloat16")


@final
@dataclass(frozen=True, eq=False)
class Int8Matrix:
    """A matrix of int8, packed for products from the left; make one with `of`."""

    _packed: Tensor
    _scales_E: Tensor
    _zeros_E: Tensor

    @classmethod
    def of(cls, bytes_EK: Tensor, scales_E: Tensor) -> Int8Matrix:
        """Args: bytes_EK: int8, -127 to 127. scales_E: what one step of each row is worth, float32."""
        return cls(_ops.qlinear_prepack(bytes_EK, None), scales_E, torch.zeros(len(scales_E), dtype=torch.int32))

    def product(
        self,
        bytes_NK: Tensor,
        zero: int,
        scale: float = 1.0,
        *,
        out_dtype: torch.dtype = torch.float32,
        step: float = 1.0,
    ) -> Tensor:
        """scale · (bytes_NK − zero) · scales_E · bytes_EKᵀ, [N, E].

        Args:
            bytes_NK: uint8; of int8 oneDNN has a slow way alone.
            out_dtype: uint8: in steps of `step`, rounded, what is below 0 or above 255 cut off.
        """
        out_NE: Tensor = _ops.qlinear_pointwise(
            bytes_NK, scale, zero, self._packed, self._scales_E, self._zeros_E, None, step, 0, out_dtype, "none", [], ""
        )
        return out_NE
