"""A step of an optimiser against torch's own: rates by group and step, parts clipped each by itself."""

from __future__ import annotations

import copy

import pytest
import torch
from torch import nn

from paraform.models.update import Stepper, terms_of
from paraform.training import TrainingConfig, make_accelerator


@pytest.mark.parametrize("clip_norm", [0.0, 0.1])
def test_a_step_by_torch(clip_norm: float) -> None:
    torch.manual_seed(0)
    network = nn.Sequential(nn.Linear(4, 3), nn.Tanh(), nn.Linear(3, 1))
    other = copy.deepcopy(network)

    def groups(of: nn.Sequential) -> list[dict[str, object]]:
        return [{"params": of[0].parameters(), "lr": 0.1}, {"params": of[2].parameters(), "lr": 0.01}]

    parts = {"first": list(network[0].parameters()), "last": list(network[2].parameters())}
    accelerator = make_accelerator(TrainingConfig(device="cpu"))
    stepper = Stepper(
        network, torch.optim.SGD(groups(network)), accelerator,
        rate=lambda step: 1 / (1 + step), clip_norm=clip_norm, parts=parts,
    )  # fmt: skip
    sgd = torch.optim.SGD(groups(other))
    inputs = torch.randn(5, 4)
    for step in range(3):
        loss = 10 * stepper.network(inputs).square().mean()
        norms = terms_of(**stepper(loss, step))
        sgd.zero_grad()
        (10 * other(inputs).square().mean()).backward()
        limit = clip_norm or float("inf")
        expected = [float(nn.utils.clip_grad_norm_(other[place].parameters(), limit)) for place in (0, 2)]
        assert [norms["first"], norms["last"]] == pytest.approx(expected)
        for group, rate in zip(sgd.param_groups, (0.1, 0.01), strict=True):
            group["lr"] = rate / (1 + step)
        sgd.step()
        for one, two in zip(network.parameters(), other.parameters(), strict=True):
            torch.testing.assert_close(one, two)
