"""bfloat16 products: rounded factors inside, torch's own setting before and after."""

from __future__ import annotations

from typing import Any

import pytest
import torch

from paraform.encoders import best_dtype, bfloat16_products, float32_products, product_dtype

CPU = torch.device("cpu")


def test_the_setting_is_put_back_whatever_happens() -> None:
    mkldnn: Any = torch.backends.mkldnn
    before = mkldnn.matmul.fp32_precision
    with pytest.raises(RuntimeError, match="stop"), bfloat16_products(CPU):
        raise RuntimeError("stop")
    with bfloat16_products(CPU):
        inside = mkldnn.matmul.fp32_precision
    assert mkldnn.matmul.fp32_precision == before
    assert inside == ("bf16" if best_dtype(CPU) == torch.bfloat16 else before)


def test_products_are_of_rounded_factors_at_most() -> None:
    """Each factor keeps 8 bits: a sum of 512 products is off by at most 2 · 2⁻⁹ of the sum of their sizes."""
    torch.manual_seed(0)
    left, right = torch.randn(256, 512), torch.randn(512, 256)
    exact = left.double() @ right.double()
    with bfloat16_products(CPU):
        found = left @ right
    bound = (left.abs() @ right.abs()) * 2 * 2**-9 * 1.01
    assert found.dtype == torch.float32 and bool(((found - exact).abs() <= bound).all())
    assert torch.equal(found, left @ right) == (best_dtype(CPU) != torch.bfloat16)


def test_the_last_one_out_puts_the_setting_back() -> None:
    """A enters, B enters, A leaves, B leaves, as two threads may."""
    mkldnn: Any = torch.backends.mkldnn
    before = mkldnn.matmul.fp32_precision
    first, second = bfloat16_products(CPU), bfloat16_products(CPU)
    first.__enter__()
    second.__enter__()
    inside = mkldnn.matmul.fp32_precision
    first.__exit__(None, None, None)
    assert mkldnn.matmul.fp32_precision == inside
    second.__exit__(None, None, None)
    assert mkldnn.matmul.fp32_precision == before


def test_other_devices_are_left_alone() -> None:
    mkldnn: Any = torch.backends.mkldnn
    before = mkldnn.matmul.fp32_precision
    with bfloat16_products(torch.device("meta")):
        assert mkldnn.matmul.fp32_precision == before


def test_float32_products_inside_rounded_ones() -> None:
    torch.manual_seed(0)
    left, right = torch.randn(2, 64, 64)
    exact = left @ right
    with bfloat16_products(CPU):
        rounded = left @ right
        assert product_dtype(CPU) == best_dtype(CPU)
        with pytest.raises(RuntimeError, match="stop"), float32_products(CPU):
            assert product_dtype(CPU) == torch.float32 and torch.equal(left @ right, exact)
            raise RuntimeError("stop")
        assert product_dtype(CPU) == best_dtype(CPU) and torch.equal(left @ right, rounded)
    assert product_dtype(CPU) == torch.float32 and torch.equal(left @ right, exact)
    with float32_products(CPU):  # with nothing around, it changes nothing
        assert torch.equal(left @ right, exact)


def test_the_dtype_of_products_is_autocasts_inside_it() -> None:
    with torch.autocast("cpu", dtype=torch.float16):
        assert product_dtype(CPU) == torch.float16
        with float32_products(CPU):
            assert product_dtype(CPU) == torch.float32
