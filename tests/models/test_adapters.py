"""Linear maps whose weight stays while adapters are trained beside it."""

from __future__ import annotations

import copy

import pytest
import torch
from torch import Tensor, nn

from paraform.models.adapters import Frozen

INPUTS = torch.randn(5, 24, generator=torch.Generator().manual_seed(0))


def rounded(linear: nn.Linear, inputs: Tensor = INPUTS) -> Tensor:
    with torch.autocast("cpu", torch.bfloat16):
        made: Tensor = linear(inputs)
    return made


def frozen(linear: nn.Linear) -> Frozen:
    return Frozen.of(linear.requires_grad_(False))


@pytest.mark.parametrize("bias", [True, False])
def test_it_computes_what_torch_does(bias: bool) -> None:
    linear = nn.Linear(24, 7, bias=bias)
    own = frozen(linear)
    assert own.weight is linear.weight and own.bias is linear.bias
    assert torch.equal(own(INPUTS), linear(INPUTS))
    assert rounded(own).dtype == torch.bfloat16 and torch.equal(rounded(own), rounded(linear))
    given, same = INPUTS.clone().requires_grad_(), INPUTS.clone().requires_grad_()
    rounded(own, given).sum().backward()  # type: ignore[no-untyped-call] # torch has no type for it
    rounded(linear, same).sum().backward()  # type: ignore[no-untyped-call]
    assert torch.equal(given.grad, same.grad)  # type: ignore[arg-type]


def test_a_weight_that_changes_is_rounded_again_and_one_that_is_rounded_stays() -> None:
    linear = nn.Linear(24, 7)
    own = frozen(linear)
    before, other = rounded(own), copy.deepcopy(own)
    own.weight.add_(1.0)
    assert torch.equal(rounded(own), rounded(linear)) and torch.equal(rounded(other), before)
    half = frozen(nn.Linear(24, 7).bfloat16())
    assert torch.equal(rounded(half), half(INPUTS.bfloat16()))


def test_maps_that_share_a_weight_share_what_it_is_rounded_to(monkeypatch: pytest.MonkeyPatch) -> None:
    linear = nn.Linear(24, 7)
    one, other = frozen(linear), frozen(linear)
    with torch.inference_mode():  # what is rounded here serves a training too
        rounded(one)
    calls: list[Tensor] = []
    plain = Tensor.detach
    monkeypatch.setattr(Tensor, "detach", lambda tensor: calls.append(tensor) or plain(tensor))  # type: ignore[func-returns-value]
    given = INPUTS.clone().requires_grad_()
    rounded(other, given).sum().backward()  # type: ignore[no-untyped-call]
    assert not any(tensor is linear.weight for tensor in calls)
    assert given.grad is not None
