"""A linear layer in bytes: within half a step of each number; and `minilm` in int8 beside itself in float32."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch
import torch.nn.functional as F

from paraform import InputError, encoders
from paraform.encoders.int8_linear import LEAST_GELU, Int8Linear
from paraform.int8 import has_int8

TEXTS = ["A dog runs over the grass.", "How do I learn to cook?", "", "no", "Two men, three dogs: 14 legs. " * 20]
able = pytest.mark.skipif(not has_int8(torch.device("cpu")), reason="this processor has no VNNI")


@able
@pytest.mark.parametrize("least", [None, LEAST_GELU])
def test_each_number_is_off_by_half_a_step(least: float | None) -> None:
    """|W x − W' x'| ≤ Σ |w| |x − x'| + |x'| |w − w'|, by each feature's and each token's own step."""
    torch.manual_seed(0)
    weight_EK, bias_E, drawn_NK = torch.randn(24, 64), torch.randn(24), torch.randn(40, 64)
    inputs_NK = drawn_NK if least is None else F.gelu(drawn_NK)
    inputs_NK[0, 0], inputs_NK[1], inputs_NK[2], inputs_NK[3] = 1000.0, 0.0, inputs_NK[2] * 1e-3, 7.0
    found_NE = Int8Linear(weight_EK, bias_E, least=least)(inputs_NK.clone())
    if least is None:
        step_N1 = (inputs_NK.amax(1, keepdim=True) - inputs_NK.amin(1, keepdim=True)) / 255
    else:
        step_N1 = (inputs_NK.amax(1, keepdim=True) / 239).clamp_min(-least / 15.5)
    half_E = weight_EK.abs().amax(1) / 254
    bound_NE = step_N1 / 2 * weight_EK.abs().sum(1) + (inputs_NK.abs() + step_N1 / 2).sum(1, keepdim=True) * half_E
    off_NE = (found_NE - F.linear(inputs_NK, weight_EK, bias_E)).abs()
    assert (off_NE <= bound_NE * 1.001 + 1e-4).all()
    assert off_NE.max() > 1e-6  # it was rounded


@able
def test_a_token_is_rounded_by_itself() -> None:
    torch.manual_seed(0)
    layer = Int8Linear(torch.randn(24, 64), torch.zeros(24))
    inputs_NK = torch.randn(10, 64)
    alone_1E = layer(inputs_NK[:1].clone())
    inputs_NK[1:] *= 1000
    torch.testing.assert_close(layer(inputs_NK)[:1], alone_1E, rtol=0, atol=0)


@able
def test_the_offline_encoder_in_int8(monkeypatch: pytest.MonkeyPatch) -> None:
    """A text's vector is the same whatever stands beside it; a signature of kept vectors tells them apart."""
    monkeypatch.setenv("PARAFORM_PRODUCTS", "float32")
    exact = encoders.load("minilm", device="cpu").encode(TEXTS)
    monkeypatch.setenv("PARAFORM_PRODUCTS", "int8")
    encoder = encoders.load("minilm", device="cpu")
    found = encoder.encode(TEXTS)
    assert ((exact * found).sum(1) > 0.99).all() and not np.array_equal(exact, found)
    for text, row in zip(TEXTS, found, strict=True):
        np.testing.assert_allclose(encoder.encode([text])[0], row, atol=1e-5)
    assert encoders.torch_settings.products_on(encoder.device) == "int8"


def test_another_kind_of_encoder(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    from transformers import RobertaConfig, RobertaModel

    config = RobertaConfig(vocab_size=9, hidden_size=8, num_hidden_layers=1, num_attention_heads=2, intermediate_size=8)
    RobertaModel(config).save_pretrained(tmp_path)
    monkeypatch.setenv("PARAFORM_PRODUCTS", "int8")
    with pytest.raises(InputError, match=r"is no encoder like BERT; expected float32 or bfloat16$"):
        encoders.load(str(tmp_path), device="cpu")


def test_where_bytes_are_not_multiplied(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(torch.cpu, "get_capabilities", lambda: {"avx2": True})
    monkeypatch.setenv("PARAFORM_PRODUCTS", "int8")
    with pytest.raises(InputError, match=r"^products int8: this processor has no VNNI"):
        encoders.load("minilm", device="cpu", layer=3, seed=7)
