"""Settings of torch for the whole process: the numbers that matrix products are of.

Products are of what a machine multiplies fastest, or of what `$PARAFORM_PRODUCTS` says; "int8" is of encoders like BERT
alone (`encoders.int8_linear`), and all else then float32. What torch makes of bfloat16 depends on the processor.
Tensors of it, and LSTMs under autocast, are computed in it everywhere: fast with AMX, faster than float32 with
AVX512_BF16 on AMD's processors, in 1.5 times its time on Intel's, and far slower with AVX2, where torch's own LSTM
takes the place of oneDNN's. Products of float32 tensors have their factors rounded with AMX alone: torch's setting
permits oneDNN to do so, and no more.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import torch

from paraform.records import InputError

PRODUCTS = "PARAFORM_PRODUCTS"
_DTYPES = {"float32": torch.float32, "bfloat16": torch.bfloat16, "int8": torch.float32}
_mkldnn: Any = torch.backends.mkldnn  # its types lack `matmul`
_lock = threading.Lock()
_inside = 0  # how many callers of `bfloat16_products` are, in all threads
_before: tuple[str, bool, bool] = ("", True, True)  # torch's before the first: precision, oneDNN, fused attention


def asked_dtype() -> torch.dtype | None:
    """What `$PARAFORM_PRODUCTS` (`--products`) says; None if nothing. Raises: InputError for any other word."""
    asked = asked_products()
    return _DTYPES[asked] if asked else None


def asked_products() -> str:
    """The word of `$PARAFORM_PRODUCTS`; "" if it is not set. Raises: InputError for any other word."""
    asked = os.environ.get(PRODUCTS, "")
    if asked and asked not in _DTYPES:
        raise InputError(f"{PRODUCTS} is {asked!r}; expected {', '.join(_DTYPES)}")
    return asked


def products_on(device: torch.device) -> str:
    """What was asked for, else the name of the `best_dtype`: what tells vectors apart that are kept."""
    return asked_products() or str(best_dtype(device)).removeprefix("torch.")


def best_dtype(device: torch.device) -> torch.dtype:
    """What was asked for, else bfloat16 where the device multiplies it faster, else float32.

    That is on a GPU, with AMX, and with AVX512_BF16 on AMD's processors (`benchmarks/products.py`).
    """
    if asked := asked_dtype():
        return asked
    if device.type == "cuda":
        return torch.bfloat16 if torch.cuda.is_bf16_supported() else torch.float32
    return torch.bfloat16 if _multiplies_faster() and _onednn_can() else torch.float32


def _multiplies_faster() -> bool:
    able = torch.cpu.get_capabilities()
    return bool(able.get("amx_bf16") or (able.get("avx512_bf16") and str(able.get("cpu_name")).startswith("AMD")))


def _onednn_can() -> bool:
    """Whether oneDNN has bfloat16 on this processor, or what `ONEDNN_MAX_CPU_ISA` leaves of it (AVX-512 at least)."""
    return bool(torch.ops.mkldnn._is_mkldnn_bf16_supported())


@contextmanager
def bfloat16_products(device: torch.device) -> Iterator[None]:
    """Inside, `product_dtype` is bfloat16, and float32 matrix products may round their factors and add up in float32.

    Only on a CPU whose `best_dtype` is bfloat16; elsewhere it changes nothing. These are torch's settings for the whole
    process, put back when the last of the callers, in whatever threads, has left. Attention is then two plain products:
    torch's fused one asks oneDNN for a product for each head of each sentence, and takes ten times as long for 20
    words, 1.6 times for 200 and 0.6 for 512 (with AMX; where float32 is not rounded 0.79 times for 20).
    """
    global _inside, _before
    if device.type != "cpu" or best_dtype(device) != torch.bfloat16:
        yield
        return
    with _lock:
        if _inside == 0:
            _before = _setting()
            _set("bf16", _before[1] and _onednn_can(), False)  # without oneDNN there is torch's own LSTM
        _inside += 1
    try:
        yield
    finally:
        with _lock:
            _inside -= 1
            if _inside == 0:
                _set(*_before)


def _setting() -> tuple[str, bool, bool]:
    cuda: Any = torch.backends.cuda  # named for GPUs, but the attention of CPUs asks it, too; it lacks types
    return _mkldnn.matmul.fp32_precision, _mkldnn.enabled, cuda.flash_sdp_enabled()


def _set(precision: str, enabled: bool, fused: bool) -> None:
    _mkldnn.matmul.fp32_precision, _mkldnn.enabled = precision, enabled
    torch.backends.cuda.enable_flash_sdp(fused)


def product_dtype(device: torch.device) -> torch.dtype:
    """What matrix products are computed in here: bfloat16 inside `bfloat16_products` or autocast, else float32."""
    if torch.is_autocast_enabled(device.type):
        return torch.get_autocast_dtype(device.type)
    return torch.bfloat16 if device.type == "cpu" and _inside else torch.float32


def product_autocast(device: torch.device) -> torch.autocast:
    """Autocast to `product_dtype`: inside, products and what follows from them are computed in it, weights stay."""
    dtype = product_dtype(device)
    return torch.autocast(device.type, dtype=dtype, enabled=dtype != torch.float32)


@contextmanager
def float32_products(device: torch.device) -> Iterator[None]:
    """Inside, float32 matrix products stay float32, whatever `bfloat16_products` or autocast is around.

    For what takes differences of nearly equal gradients.
    """
    global _inside
    with _lock:
        inside, setting, _inside = _inside, _setting(), 0
        _set(*(_before if inside else setting))
    try:
        with torch.autocast(device.type, enabled=False):
            yield
    finally:
        with _lock:
            _inside = inside
            _set(*setting)
