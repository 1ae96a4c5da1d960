"""The dual estimate of KL by a critic that is fitted here, on samples that it is not judged by.

Shape key: N sentences, S samples of each, P numbers that name a sentence's posterior, Z latent.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from paraform.losses.dual_kl import dual_kl

ROWS = 1024  # samples of either kind that a step of the fit sees
PRIOR_DRAWS = 1 << 20  # that a critic is judged by
STEPS = 600  # of the fit
MARGIN = 100  # of them at least must share what e^f adds up to


class DualKL(NamedTuple):
    """KL of q(z|x) and of the aggregated posterior from the prior, as critics see them, and the most they can; nats.

    That is 1 above what f may be: the dual estimate is E_q[f] − E_p[e^f] + 1.
    """

    of_sentence: float
    of_latent: float
    most: float


def refitted_dual(
    encoded: Tensor, z_SNZ: Tensor, *, seed: int, steps: int = STEPS, prior_draws: int = PRIOR_DRAWS, width: int = 512
) -> DualKL:
    """The dual KL by critics fitted anew, each of three layers: below KL, as far as samples can tell.

    No estimate from M samples can be trusted above ln M (McAllester & Stratos 2020): where the posterior and the
    prior's draws never meet, a critic may say anything, and E_p[e^f] would not show it. So f stays, smoothly, below
    ln(M / 100). It is fitted by telling posterior from prior (its best logit is ln q/p too), since the dual's own
    gradient is that of a few samples with a large e^f. Half of each sentence's samples are learnt from, half judged.

    Args:
        encoded: [N, P].
        z_SNZ: S ≥ 2 samples of each.
        steps: of Adam.
        prior_draws: M.
        width: units of a layer.
    Raises: ValueError for less than two samples.
    """
    if len(z_SNZ) < 2:
        raise ValueError(f"{len(z_SNZ)} samples of each sentence; expected two or more, to learn from and to judge by")
    most, z_SNZ = math.log(prior_draws / MARGIN), z_SNZ.float()
    states_NP = (encoded - encoded.mean(0)) / encoded.std(0, correction=0).clamp_min(1e-3)
    with torch.random.fork_rng(devices=[] if z_SNZ.device.type == "cpu" else [z_SNZ.device]):
        torch.manual_seed(seed)
        of_sentence = _fitted(states_NP, z_SNZ, most, steps, prior_draws, width)
        of_latent = _fitted(states_NP[:, :0], z_SNZ, most, steps, prior_draws, width)
    return DualKL(of_sentence, of_latent, most + 1)


def _fitted(states_NP: Tensor, z_SNZ: Tensor, most: float, steps: int, prior_draws: int, units: int) -> float:
    samples, count, width = z_SNZ.shape
    device = z_SNZ.device
    layers: list[nn.Module] = []
    for size in (states_NP.shape[1] + width, units, units):
        layers += [nn.Linear(size, units), nn.LeakyReLU()]
    network = nn.Sequential(*layers, nn.Linear(units, 1)).to(device)
    adam = torch.optim.Adam(network.parameters(), lr=5e-4)
    learnt_SNZ, judged_SNZ = z_SNZ[: samples // 2], z_SNZ[samples // 2 :]

    def critic(rows: Tensor, z: Tensor) -> Tensor:
        values: Tensor = network(torch.cat([states_NP[rows], z], 1)).squeeze(1)
        return most - F.softplus(most - values)

    def prior(draws: int) -> Tensor:
        return critic(torch.randint(count, (draws,), device=device), torch.randn(draws, width, device=device))

    with torch.enable_grad():
        for step in range(steps):
            adam.param_groups[0]["lr"] = 5e-4 * (1 - step / steps)
            rows = torch.randint(count, (ROWS,), device=device)
            which = torch.randint(len(learnt_SNZ), (ROWS,), device=device)
            loss = F.softplus(-critic(rows, learnt_SNZ[which, rows])).mean() + F.softplus(prior(ROWS)).mean()
            adam.zero_grad()
            torch.autograd.backward(loss)
            nn.utils.clip_grad_norm_(network.parameters(), 1.0)
            adam.step()
    with torch.no_grad():
        every = torch.arange(count, device=device)
        on_posterior = torch.cat([critic(every, z_NZ).double() for z_NZ in judged_SNZ])
        parts = [min(1 << 14, prior_draws - start) for start in range(0, prior_draws, 1 << 14)]
        on_prior = torch.cat([prior(part).double() for part in parts])
    return float(dual_kl(on_posterior, on_prior))
