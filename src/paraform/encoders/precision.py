"""The numbers that a machine multiplies fastest."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import torch

_lock = threading.Lock()
_inside = 0  # how many callers are, in all threads
_before = ""  # torch's setting before the first of them


def best_dtype(device: torch.device) -> torch.dtype:
    """bfloat16 where the processor multiplies it in hardware, else float32."""
    if device.type == "cuda":
        return torch.bfloat16 if torch.cuda.is_bf16_supported() else torch.float32
    able = torch.cpu.get_capabilities()
    return torch.bfloat16 if able.get("avx512_bf16") or able.get("amx_bf16") else torch.float32


@contextmanager
def bfloat16_products(device: torch.device) -> Iterator[None]:
    """Inside, float32 matrix products round their factors to bfloat16, and add up in float32.

    Only on a CPU that multiplies bfloat16 in hardware (`best_dtype`); elsewhere it changes nothing. It is torch's
    setting for the whole process, put back when the last of the callers, in whatever threads, has left.
    """
    global _inside, _before
    if device.type != "cpu" or best_dtype(device) != torch.bfloat16:
        yield
        return
    mkldnn: Any = torch.backends.mkldnn  # its types lack `matmul`
    with _lock:
        if _inside == 0:
            _before = mkldnn.matmul.fp32_precision
            mkldnn.matmul.fp32_precision = "bf16"
        _inside += 1
    try:
        yield
    finally:
        with _lock:
            _inside -= 1
            if _inside == 0:
                mkldnn.matmul.fp32_precision = _before


def product_dtype(device: torch.device) -> torch.dtype:
    """What matrix products are computed in here: bfloat16 inside `bfloat16_products` or autocast, else float32."""
    if torch.is_autocast_enabled(device.type):
        return torch.get_autocast_dtype(device.type)
    return torch.bfloat16 if device.type == "cpu" and _inside else torch.float32


@contextmanager
def float32_products(device: torch.device) -> Iterator[None]:
    """Inside, float32 matrix products stay float32, whatever `bfloat16_products` or autocast is around.

    For what takes differences of nearly equal gradients.
    """
    global _inside
    mkldnn: Any = torch.backends.mkldnn
    with _lock:
        inside, setting, _inside = _inside, mkldnn.matmul.fp32_precision, 0
        mkldnn.matmul.fp32_precision = _before if inside else setting
    try:
        with torch.autocast(device.type, enabled=False):
            yield
    finally:
        with _lock:
            _inside, mkldnn.matmul.fp32_precision = inside, setting
