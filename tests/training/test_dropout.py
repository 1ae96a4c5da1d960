"""Dropout in training: shares and means as they should be, and attention with it as torch's."""

from __future__ import annotations

import pytest
import torch
import torch.nn.functional as F
from torch import Tensor, nn

from paraform.training import dropout as module
from paraform.training.dropout import QuickDropout, attention, dropout, quick_dropout


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


@pytest.mark.parametrize("share", [-0.5, 1.5])
def test_a_share_that_is_none_is_refused(share: float) -> None:
    with pytest.raises(ValueError, match="dropout probability"):
        dropout(torch.ones(3), share)


@pytest.mark.parametrize("mask", ["none", "bool", "numbers"])
def test_attention_whose_weights_are_dropped_as_torch_computes_it(mask: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """What is dropped is the same for both; the last query reads no key."""
    torch.manual_seed(0)
    query, key, value = torch.randn(3, 2, 4, 7, 5, dtype=torch.float64, requires_grad=True).unbind()
    there = torch.rand(2, 1, 7, 7) < 0.7
    there[..., 0], there[:, :, -1] = True, False
    masks = {"none": None, "bool": there, "numbers": torch.randn(2, 1, 7, 7, dtype=torch.float64)}

    def alike(values: Tensor, p: float) -> Tensor:
        return values * (torch.arange(values.numel()).view(values.shape) % 3 > 0) / (1 - p)

    monkeypatch.setattr(module, "dropout", alike)
    eye = torch.eye(7, dtype=torch.float64).expand(2, 4, 7, 7)
    weights = F.scaled_dot_product_attention(query, key, eye, attn_mask=masks[mask])
    if mask == "numbers":  # torch's own
        monkeypatch.setattr(F, "scaled_dot_product_attention", lambda q, k, v, *rest, **more: alike(weights, 0.25) @ v)
    found = attention(query=query, key=key, value=value, attn_mask=masks[mask], dropout_p=0.25)
    torch.testing.assert_close(found, alike(weights, 0.25) @ value)
    assert all(part.isfinite().all() for part in torch.autograd.grad(found.square().sum(), [query, key, value]))


def test_inside_modules_of_torch_and_attention_take_the_quick_one() -> None:
    """What draws by torch's own `bernoulli_` gives other numbers from one seed; so does `nn.MultiheadAttention`."""
    ones, q = torch.ones(50, 8), torch.randn(1, 2, 6, 4)
    heads = nn.MultiheadAttention(8, 2, dropout=0.5)

    def drawn() -> list[Tensor]:
        torch.manual_seed(3)
        return [
            nn.Dropout(0.5)(ones),
            F.scaled_dot_product_attention(q, q, q, None, 0.5, scale=0.3),
            heads(ones, ones, ones)[0],
        ]

    outside = drawn()
    with QuickDropout():
        inside = drawn()
        plain = F.scaled_dot_product_attention(query=q, key=q, value=q), nn.Dropout(0.5).eval()(ones)
    torch.manual_seed(3)
    expected = [dropout(ones), attention(q, q, q, dropout_p=0.5, scale=0.3), heads(ones, ones, ones)[0]]
    for one, other, own in zip(outside, inside, expected, strict=True):
        assert torch.equal(other, own) and not torch.equal(one, other)
    assert torch.equal(plain[0], F.scaled_dot_product_attention(q, q, q)) and torch.equal(plain[1], ones)


def test_where_activations_are_computed_again_it_is_torch_s() -> None:
    """Else the backward pass would draw other masks than the forward pass had."""
    cpu, twice = torch.device("cpu"), nn.Linear(2, 2)
    assert isinstance(quick_dropout(twice, cpu), QuickDropout)
    assert not isinstance(quick_dropout(twice, torch.device("cuda")), QuickDropout)
    twice.gradient_checkpointing = True
    assert not isinstance(quick_dropout(nn.Sequential(twice), cpu), QuickDropout)
