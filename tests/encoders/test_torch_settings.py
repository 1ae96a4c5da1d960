"""bfloat16 products and one thread: who says so, what is set inside, torch's own settings before and after."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest
import torch
from torch import nn

from paraform.encoders import best_dtype, bfloat16_products, float32_products, product_dtype, torch_settings
from paraform.records import InputError
from paraform.training import TrainingConfig, make_accelerator

CPU = torch.device("cpu")


def settings() -> tuple[str, bool, bool]:
    mkldnn: Any = torch.backends.mkldnn
    return mkldnn.matmul.fp32_precision, mkldnn.enabled, torch.backends.cuda.flash_sdp_enabled()


def test_the_setting_says_what_is_multiplied_else_the_processor(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without AMX, bfloat16 takes longer than float32 on Intel's; and oneDNN may have been told to do without."""
    able: dict[str, Any] = {"avx512_bf16": True, "cpu_name": "Intel(R) Xeon(R)"}
    monkeypatch.setattr(torch.cpu, "get_capabilities", lambda: able)
    monkeypatch.setattr(torch_settings, "_onednn_can", lambda: able.get("onednn", True))
    for asked, expected in (("float32", torch.float32), ("bfloat16", torch.bfloat16), ("int8", torch.float32)):
        monkeypatch.setenv("PARAFORM_PRODUCTS", asked)
        assert torch_settings.products_on(CPU) == asked
        assert best_dtype(CPU) == best_dtype(torch.device("cuda")) == expected
    for unset in (lambda: monkeypatch.setenv("PARAFORM_PRODUCTS", ""), lambda: monkeypatch.delenv("PARAFORM_PRODUCTS")):
        able.pop("amx_bf16", None)
        unset()
        assert best_dtype(CPU) == torch.float32
        able["amx_bf16"] = True
        assert best_dtype(CPU) == torch.bfloat16
    for bfloat16, expected in ((True, torch.bfloat16), (False, torch.float32)):
        able = {"avx512_bf16": bfloat16, "cpu_name": "AMD EPYC"}
        assert best_dtype(CPU) == expected
    able = {"amx_bf16": True, "onednn": False}
    assert best_dtype(CPU) == torch.float32
    monkeypatch.setenv("PARAFORM_PRODUCTS", "fp16")
    with pytest.raises(InputError, match=r"^PARAFORM_PRODUCTS is 'fp16'; expected float32, bfloat16, int8$"):
        best_dtype(CPU)


def test_a_gpus_autocast_hears_the_setting(monkeypatch: pytest.MonkeyPatch) -> None:
    """What accelerate is asked for where torch finds a GPU."""
    monkeypatch.setattr(torch.accelerator, "is_available", lambda: True)
    monkeypatch.setattr("accelerate.Accelerator", lambda **given: SimpleNamespace(distributed_type="NO", **given))
    for asked, expected in (("float32", "no"), ("bfloat16", "bf16"), ("", "bf16")):
        monkeypatch.setenv("PARAFORM_PRODUCTS", asked)
        assert make_accelerator(TrainingConfig(mixed_precision="bf16")).mixed_precision == expected


def test_the_settings_are_put_back_whatever_happens(bfloat16: None) -> None:
    before = settings()
    with pytest.raises(RuntimeError, match="stop"), bfloat16_products(CPU):
        raise RuntimeError("stop")
    with bfloat16_products(CPU):
        inside = settings()
    assert settings() == before and inside == ("bf16", before[1] and torch_settings._onednn_can(), False)


def test_nothing_is_rounded_where_float32_is_asked_for() -> None:
    before = settings()
    with bfloat16_products(CPU):
        assert settings() == before and product_dtype(CPU) == torch.float32


def test_products_are_of_rounded_factors_at_most(bfloat16: None) -> None:
    """Each factor keeps 8 bits: a sum of 512 products is off by at most 2 · 2⁻⁹ of the sum of their sizes."""
    torch.manual_seed(0)
    left, right = torch.randn(256, 512), torch.randn(512, 256)
    exact = left.double() @ right.double()
    with bfloat16_products(CPU):
        found = left @ right
    sizes = left.abs() @ right.abs()
    assert found.dtype == torch.float32 and bool(((found - exact).abs() <= sizes * 2 * 2**-9 * 1.01).all())
    if torch.cpu.get_capabilities().get("amx_bf16") and torch_settings._onednn_can():  # which alone rounds them
        assert bool(((found - exact).abs() > sizes * 2**-20).any())


def test_an_lstm_computes_in_bfloat16_on_any_processor(bfloat16: None, monkeypatch: pytest.MonkeyPatch) -> None:
    """Forward and backward, near float32's and not the same; where oneDNN cannot, torch's own does."""
    torch.manual_seed(0)
    lstm, inputs = nn.LSTM(16, 16, batch_first=True), torch.randn(4, 7, 16)
    exact = lstm(inputs)[0]
    for able in {torch_settings._onednn_can(), False}:
        monkeypatch.setattr(torch_settings, "_onednn_can", lambda able=able: able)
        with bfloat16_products(CPU), torch.autocast("cpu", product_dtype(CPU)):
            found = lstm(inputs)[0].float()
            found.sum().backward()
        torch.testing.assert_close(found, exact, atol=0.02, rtol=0)
        assert not torch.equal(found, exact) and lstm.weight_hh_l0.grad is not None


def test_the_last_one_out_puts_the_settings_back(bfloat16: None) -> None:
    """A enters, B enters, A leaves, B leaves, as two threads may."""
    before = settings()
    first, second = bfloat16_products(CPU), bfloat16_products(CPU)
    first.__enter__()
    second.__enter__()
    inside = settings()
    first.__exit__(None, None, None)
    assert settings() == inside != before
    second.__exit__(None, None, None)
    assert settings() == before


def test_other_devices_are_left_alone(bfloat16: None) -> None:
    before = settings()
    with bfloat16_products(torch.device("meta")):
        assert settings() == before


def test_float32_products_inside_rounded_ones(bfloat16: None) -> None:
    torch.manual_seed(0)
    left, right = torch.randn(2, 64, 64)
    exact = left @ right
    with bfloat16_products(CPU):
        rounded = left @ right
        assert product_dtype(CPU) == torch.bfloat16
        with pytest.raises(RuntimeError, match="stop"), float32_products(CPU):
            assert product_dtype(CPU) == torch.float32 and torch.equal(left @ right, exact)
            raise RuntimeError("stop")
        assert product_dtype(CPU) == torch.bfloat16 and torch.equal(left @ right, rounded)
    assert product_dtype(CPU) == torch.float32 and torch.equal(left @ right, exact)
    with float32_products(CPU):  # with nothing around, it changes nothing
        assert torch.equal(left @ right, exact)


def test_the_dtype_of_products_is_autocasts_inside_it() -> None:
    with torch.autocast("cpu", dtype=torch.float16):
        assert product_dtype(CPU) == torch.float16
        with float32_products(CPU):
            assert product_dtype(CPU) == torch.float32
