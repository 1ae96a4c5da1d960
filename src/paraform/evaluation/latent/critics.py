"""The dual estimate of KL by a critic that is fitted here, on samples that it is not judged by.

Shape key: N sentences, S samples of each, P numbers that name a sentence's posterior, Z latent.
"""

from __future__ import annotations

import copy
from typing import NamedTuple

import torch
from torch import Tensor, nn

from paraform.losses.dual_kl import dual_kl

ROWS = 2048  # samples a step
PATIENCE = 5  # looks without a better estimate before the fit ends


class DualKL(NamedTuple):
    """KL of q(z|x) and of the aggregated posterior from the prior, as critics see them; nats."""

    of_sentence: float
    of_latent: float


def refitted_dual(
    encoded: Tensor, z_SNZ: Tensor, *, seed: int, most_steps: int = 2000, learning_rate: float = 5e-4
) -> DualKL:
    """The dual KL with critics fitted until they no longer gain, each three layers of 512 units.

    A third of every sentence's samples is learnt from, a third says when to stop, and the last third is judged. A
    critic of limited size stays below KL; what it lacks of the closed form is what a published dual figure may lack.

    Args:
        encoded: [N, P].
        z_SNZ: S ≥ 3 samples of each.
    """
    with torch.random.fork_rng(devices=[] if z_SNZ.device.type == "cpu" else [z_SNZ.device]):
        torch.manual_seed(seed)
        scale_P = encoded.std(0).clamp_min(1e-3)
        states = ((encoded - encoded.mean(0)) / scale_P).expand(len(z_SNZ), *encoded.shape)
        of_sentence = _fit(torch.cat([states, z_SNZ], -1), states, most_steps, learning_rate)
        of_latent = _fit(z_SNZ, states[..., :0], most_steps, learning_rate)
    return DualKL(of_sentence, of_latent)


@torch.enable_grad()
def _fit(inputs_SND: Tensor, states_SNP: Tensor, most_steps: int, learning_rate: float) -> float:
    width = inputs_SND.shape[-1] - states_SNP.shape[-1]
    layers: list[nn.Module] = []
    for size in (inputs_SND.shape[-1], 512, 512):
        layers += [nn.Linear(size, 512), nn.LeakyReLU()]
    critic = nn.Sequential(*layers, nn.Linear(512, 1)).to(inputs_SND.device)
    adam = torch.optim.Adam(critic.parameters(), lr=learning_rate)
    learnt, watched, judged = (part.flatten(0, 1) for part in inputs_SND.detach().tensor_split(3))

    def with_prior(posterior_MD: Tensor) -> Tensor:
        prior_MZ = torch.randn(len(posterior_MD), width, device=posterior_MD.device)
        return torch.cat([posterior_MD[:, : posterior_MD.shape[1] - width], prior_MZ], 1)

    def estimate(posterior_MD: Tensor) -> float:
        with torch.no_grad():
            parts = [posterior_MD[at : at + 8 * ROWS] for at in range(0, len(posterior_MD), 8 * ROWS)]
            on_posterior = torch.cat([critic(part).squeeze(-1) for part in parts]).double()
            on_prior = torch.cat([critic(with_prior(part)).squeeze(-1) for part in parts]).double()
        return float(dual_kl(on_posterior, on_prior))

    best, kept, stale = estimate(watched), copy.deepcopy(critic.state_dict()), 0
    for step in range(1, most_steps + 1):
        rows = learnt[torch.randint(len(learnt), (ROWS,), device=learnt.device)]
        loss = -dual_kl(critic(rows).squeeze(-1), critic(with_prior(rows)).squeeze(-1))
        adam.zero_grad()
        torch.autograd.backward(loss)
        nn.utils.clip_grad_norm_(critic.parameters(), 1.0)
        adam.step()
        if step % 50 == 0:
            if (now := estimate(watched)) > best:
                best, kept, stale = now, copy.deepcopy(critic.state_dict()), 0
            elif (stale := stale + 1) >= PATIENCE:
                break
    critic.load_state_dict(kept)
    return estimate(judged)
