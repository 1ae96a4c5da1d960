"""Dropout in training: shares and means as they should be, and attention with it as torch's."""

from __future__ import annotations

import pytest
import torch
import torch.nn.functional as F
from torch import Tensor, nn

from paraform.training import dropout as module
from paraform.training.dropout import QuickDropout, attention, dropout


@pytest.mark.parametrize("share", [0.0, 0.3, 0.5, 1.0])
def test_dropout_keeps_the_mean_and_drops_the_share(share: float) -> None:
    torch.manual_seed(0)
    ones = torch.ones(1001, 333, requires_grad=True)
    out = dropout(ones, share)
    out.sum().backward()
    assert float((out == 0).float().mean()) == pytest.approx(share, abs=0.003)
    if share == 1:
        assert not out.any()
    else:
        assert out.mean().item() == pytest.approx(1.0, abs=0.01)
        assert ones.grad is not None and torch.equal(ones.grad, out.detach())  # where it is dropped, no gradient
    assert torch.equal(dropout(ones, share, False), ones)
    first = dropout(ones, 0.5)
    assert not torch.equal(first, dropout(ones, 0.5))


@pytest.mark.parametrize("mask", ["none", "bool", "float"])
def test_attention_whose_weights_are_dropped_as_torch_computes_it(mask: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """With a mask that is the same for both: what is dropped is what the other drops."""
    torch.manual_seed(0)
    query, key, value = torch.randn(3, 2, 4, 7, 5, dtype=torch.float64).unbind()
    there = torch.rand(2, 1, 7, 7) < 0.7
    there[..., 0] = True
    masks = {"none": None, "bool": there, "float": torch.randn(2, 1, 7, 7, dtype=torch.float64)}

    def alike(values: Tensor, p: float) -> Tensor:
        return values * (torch.arange(values.numel()).view(values.shape) % 3 > 0) / (1 - p)

    monkeypatch.setattr(module, "dropout", alike)
    found = attention(query, key, value, attn_mask=masks[mask], dropout_p=0.25)
    eye = torch.eye(7, dtype=torch.float64).expand(2, 4, 7, 7)
    weights = F.scaled_dot_product_attention(query, key, eye, attn_mask=masks[mask])
    torch.testing.assert_close(found, alike(weights, 0.25) @ value)


def test_inside_modules_of_torch_and_attention_take_the_quick_one(monkeypatch: pytest.MonkeyPatch) -> None:
    """What draws by torch's own `bernoulli_` gives other numbers from one seed."""
    ones, q = torch.ones(50, 8), torch.randn(1, 2, 6, 4)

    def drawn() -> list[Tensor]:
        torch.manual_seed(3)
        return [nn.Dropout(0.5)(ones), F.scaled_dot_product_attention(q, q, q, dropout_p=0.5)]

    outside = drawn()
    with QuickDropout():
        inside = drawn()
        plain = F.scaled_dot_product_attention(q, q, q), nn.Dropout(0.5).eval()(ones)
    torch.manual_seed(3)
    expected = [dropout(ones), attention(q, q, q, dropout_p=0.5)]
    for one, other, own in zip(outside, inside, expected, strict=True):
        assert torch.equal(other, own) and not torch.equal(one, other)
    assert torch.equal(plain[0], F.scaled_dot_product_attention(q, q, q)) and torch.equal(plain[1], ones)
