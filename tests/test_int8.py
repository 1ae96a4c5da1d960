"""Products of bytes against the same sums in int64."""

from __future__ import annotations

import os
import subprocess
import sys
from typing import Any

import pytest
import torch

from paraform import int8
from paraform.int8 import Int8Matrix, has_int8, require_int8
from paraform.records import InputError

CPU = torch.device("cpu")
ABLE = pytest.mark.skipif(not has_int8(CPU), reason="this processor has no VNNI")


@ABLE
@pytest.mark.parametrize("zero", [0, 16, 128])
def test_products_are_exact_at_the_ends_of_a_byte(zero: int) -> None:
    """255 · 127 added up is what saturates 16 bits on a processor without VNNI."""
    torch.manual_seed(0)
    left_NK = torch.randint(0, 256, (37, 200), dtype=torch.uint8)
    right_EK = torch.randint(-127, 128, (24, 200)).to(torch.int8)
    left_NK[0], right_EK[0], right_EK[1] = 255, 127, -127
    scales_E = torch.rand(24) + 0.5
    exact_NE = (left_NK.long() - zero) @ right_EK.long().T
    matrix = Int8Matrix.of(right_EK, scales_E)
    torch.testing.assert_close(matrix.product(left_NK, zero, 0.25), exact_NE * scales_E * 0.25, rtol=1e-6, atol=0)
    steps_NE = matrix.product(left_NK, zero, 0.25, out_dtype=torch.uint8, step=500.0)
    expected_NE = (exact_NE * scales_E * 0.25 / 500).clamp(0, 255)
    assert steps_NE.dtype == torch.uint8 and (steps_NE - expected_NE).abs().max() <= 0.5 + 1e-3


@ABLE
def test_onednn_may_have_been_told_to_do_without() -> None:
    """Its other products of bytes saturate, in silence."""
    code = "import torch; from paraform.int8 import has_int8; print(has_int8(torch.device('cpu')))"
    environment = os.environ | {"ONEDNN_MAX_CPU_ISA": "AVX2"}
    done = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, check=True, text=True)
    assert done.stdout == "False\n"


def test_who_cannot(monkeypatch: pytest.MonkeyPatch) -> None:
    able: dict[str, Any] = {"avx2": True}
    monkeypatch.setattr(int8, "_is_exact", lambda: True)
    monkeypatch.setattr(torch.cpu, "get_capabilities", lambda: able)
    with pytest.raises(InputError, match=r"^products int8: this processor has no VNNI, which multiplies bytes; expec"):
        require_int8(CPU)
    for name in int8.VNNI:
        able = {name: True}
        require_int8(CPU)
        with pytest.raises(InputError, match=r"^products int8: on cuda; expected float32 or bfloat16$"):
            require_int8(torch.device("cuda"))
