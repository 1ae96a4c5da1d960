"""The change of a batch's cosines against a double loop."""

from __future__ import annotations

import pytest
import torch

from paraform.losses.similarity_distance import similarity_distance


def test_a_double_loop() -> None:
    torch.manual_seed(0)
    vectors, start = torch.randn(4, 3), torch.randn(4, 5)
    total = 0.0
    for i in range(4):
        for j in range(4):
            if i != j:
                now = float(vectors[i] @ vectors[j] / (vectors[i].norm() * vectors[j].norm()))
                before = float(start[i] @ start[j] / (start[i].norm() * start[j].norm()))
                total += (now - before) ** 2
    assert similarity_distance(vectors, start).item() == pytest.approx(total / 12, rel=1e-5)


def test_a_rotation_and_a_factor_change_nothing() -> None:
    torch.manual_seed(1)
    vectors = torch.randn(6, 4)
    turn, _ = torch.linalg.qr(torch.randn(4, 4))
    assert similarity_distance(3 * vectors @ turn, vectors).item() == pytest.approx(0, abs=1e-10)


def test_no_gradient_reaches_the_start() -> None:
    vectors, start = torch.randn(3, 2, requires_grad=True), torch.randn(3, 2, requires_grad=True)
    similarity_distance(vectors, start).backward()
    assert vectors.grad is not None and start.grad is None


@pytest.mark.parametrize("rows", [(1, 1), (3, 2)])
def test_other_shapes(rows: tuple[int, int]) -> None:
    with pytest.raises(ValueError, match=r"expected \[B ≥ 2, D\]"):
        similarity_distance(torch.zeros(rows[0], 2), torch.zeros(rows[1], 2))
