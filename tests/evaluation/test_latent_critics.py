"""A critic fitted anew, against the closed form of KL."""

from __future__ import annotations

import math

import pytest
import torch

from paraform.evaluation.latent import critics, refitted_dual
from paraform.losses.gaussian_kl import gaussian_kl


def test_a_refitted_critic_comes_near_kl_from_below() -> None:
    torch.manual_seed(0)
    means = torch.randn(200, 2)
    z = means + 0.7 * torch.randn(60, 200, 2)
    closed = float(gaussian_kl(means, torch.full((200, 2), 2 * math.log(0.7))).mean())
    found = refitted_dual(means, z, seed=0, steps=200, prior_draws=1 << 16, width=64)
    assert 0.85 * closed < found.of_sentence < 1.02 * closed
    # The aggregated posterior is N(0, 1 + 0.49), about; two dimensions of it.
    assert found.of_latent == pytest.approx(0.49 - math.log(1.49), abs=0.06)
    state = torch.get_rng_state()
    refitted_dual(means[:5], z[:6, :5], seed=0, steps=2, prior_draws=200, width=8)
    assert torch.equal(torch.get_rng_state(), state)  # of no consequence for what is trained beside it


def test_a_refitted_critic_stops_before_it_knows_samples_by_heart(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, size in (("ROWS", 256), ("HELD_OUT", 1 << 12), ("LOOK", 50)):
        monkeypatch.setattr(critics, name, size)
    torch.manual_seed(0)
    means = 0.7 * torch.randn(30, 8)
    z = means + 0.8 * torch.randn(16, 30, 8)
    closed = float(gaussian_kl(means, torch.full((30, 8), 2 * math.log(0.8))).mean())
    found = refitted_dual(means, z, seed=0, steps=600, prior_draws=1 << 14, width=64)
    assert 0.6 * closed < found.of_sentence < closed and found.of_latent > 0
    monkeypatch.setattr(critics, "LOOK", 600)  # held-out samples are asked at the end only
    late = refitted_dual(means, z, seed=0, steps=600, prior_draws=1 << 14, width=64)
    assert late.of_sentence < 0.3 * closed and late.of_latent == 0  # that of f = 0: none is better


def test_no_critic_is_believed_above_what_its_samples_can_tell() -> None:
    """Each sentence has a far corner of its own: KL is 200 nats, and 2^12 draws of the prior know nothing of them."""
    torch.manual_seed(0)
    means = 20 * torch.nn.functional.normalize(torch.randn(50, 3))
    z = means + 0.1 * torch.randn(20, 50, 3)
    found = refitted_dual(means, z, seed=0, steps=100, prior_draws=1 << 12, width=64)
    assert found.most == pytest.approx(math.log(40.96) + 1)
    assert found.of_sentence < found.most and found.of_latent < found.most


def test_a_refitted_critic_knows_nothing_of_samples_that_it_has_not_learnt(monkeypatch: pytest.MonkeyPatch) -> None:
    """Four samples of the prior in place of a posterior: KL is 0, and what is learnt by heart is no sign of any."""
    monkeypatch.setattr(critics, "ROWS", 256)
    monkeypatch.setattr(critics, "HELD_OUT", 1 << 12)
    z_SNZ = torch.randn(4, 20, 8, generator=torch.Generator().manual_seed(0))
    found = refitted_dual(torch.eye(20), z_SNZ, seed=0, steps=200, prior_draws=1 << 14, width=64)
    assert found.of_sentence == 0 and found.of_latent == pytest.approx(0, abs=0.1)
