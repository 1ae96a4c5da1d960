"""The numbers that a machine multiplies fastest."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import torch


def best_dtype(device: torch.device) -> torch.dtype:
    """bfloat16 where the processor multiplies it in hardware, else float32."""
    if device.type == "cuda":
        return torch.bfloat16 if torch.cuda.is_bf16_supported() else torch.float32
    able = torch.cpu.get_capabilities()
    return torch.bfloat16 if able.get("avx512_bf16") or able.get("amx_bf16") else torch.float32


@contextmanager
def bfloat16_products(device: torch.device) -> Iterator[None]:
    """Inside, float32 matrix products on such a CPU round their factors to bfloat16, and add up in float32.

    Elsewhere it changes nothing. It is torch's setting for the whole process, and is put back afterwards.
    """
    if device.type != "cpu" or best_dtype(device) != torch.bfloat16:
        yield
        return
    mkldnn: Any = torch.backends.mkldnn  # its types lack `matmul`
    settings = mkldnn.matmul
    before = settings.fp32_precision
    settings.fp32_precision = "bf16"
    try:
        yield
    finally:
        settings.fp32_precision = before
