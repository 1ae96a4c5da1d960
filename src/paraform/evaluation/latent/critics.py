"""The dual estimate of KL by a critic that is fitted here, on samples that it is not judged by.

Shape key: N sentences, S samples of each, P numbers that name a sentence's posterior, Z latent.
"""

from __future__ import annotations

import copy
import math
from collections.abc import Callable
from typing import NamedTuple, TypeAlias

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from paraform.losses.dual_kl import dual_kl
from paraform.models.layers import leaky_layers
from paraform.progress import track
from paraform.records import InputError

ROWS = 1024  # samples of either kind that a step of the fit sees
PRIOR_DRAWS = 1 << 20  # that a critic is judged by
STEPS = 3000  # of the fit, at most
LOOK = 100  # steps after which a critic is tried on samples held out
PATIENCE = 4  # tries that are no better, after which it has converged
HELD_OUT = 1 << 15  # samples at most, and as many draws of the prior
AT_ONCE = 1 << 14  # rows that a critic sees together: bounds its memory
MARGIN = 100  # of them at least must share what e^f adds up to


Prior: TypeAlias = Callable[[int, torch.Generator], Tensor]


class DualKL(NamedTuple):
    """KL of q(z|x) and of the aggregated posterior from the prior, as critics see them, and the most they can; nats.

    That is 1 above what f may be: the dual estimate is E_q[f] − E_p[e^f] + 1.
    """

    of_sentence: float
    of_latent: float
    most: float


def refitted_dual(
    encoded: Tensor,
    z_SNZ: Tensor,
    *,
    seed: int,
    steps: int = STEPS,
    prior_draws: int = PRIOR_DRAWS,
    width: int = 512,
    prior: Prior | None = None,
    progress: bool = False,
) -> DualKL:
    """The dual KL by critics fitted anew, each of three layers: below KL, as far as samples can tell.

    No estimate from M samples can be trusted above ln M (McAllester & Stratos 2020): where the posterior and the
    prior's draws never meet, a critic may say anything, and E_p[e^f] would not show it. So f stays, smoothly, below
    ln(M / 100). It is fitted by telling posterior from prior (its best logit is ln q/p too), since the dual's own
    gradient is that of a few samples with a large e^f. Half of each sentence's samples are judged; of the others a
    part is held out, and the critic kept is that with the greatest dual on them: later ones learn samples by heart. If
    none is above 0 there, it is f = 0, whose dual is 0.

    Args:
        encoded: [N, P].
        z_SNZ: S ≥ 2 samples of each.
        steps: the most steps of Adam.
        prior_draws: M.
        width: units of a layer.
        prior: how many samples and their generator → z [S, Z] of the prior; None: of N(0, I).
        progress: say on stderr how far it is for each.
    Raises: InputError for less than two samples.
    """
    if len(z_SNZ) < 2:
        raise InputError(f"{len(z_SNZ)} samples of each sentence; expected two or more, to learn from and to judge by")
    most, z_SNZ = math.log(prior_draws / MARGIN), z_SNZ.float()
    states_NP = (encoded - encoded.mean(0)) / encoded.std(0, correction=0).clamp_min(1e-3)
    with torch.random.fork_rng(devices=[] if z_SNZ.device.type == "cpu" else [z_SNZ.device]):
        torch.manual_seed(seed)
        draw = _prior(prior, z_SNZ, seed)
        of_sentence = _fitted(states_NP, z_SNZ, most, steps, prior_draws, width, draw, progress)
        of_latent = _fitted(states_NP[:, :0], z_SNZ, most, steps, prior_draws, width, draw, progress)
    return DualKL(of_sentence, of_latent, most + 1)


def _prior(given: Prior | None, z_SNZ: Tensor, seed: int) -> Callable[[int], Tensor]:
    width, device = z_SNZ.shape[2], z_SNZ.device
    if given is None:
        return lambda draws: torch.randn(draws, width, device=device)
    generator = torch.Generator(device).manual_seed(seed)
    return lambda draws: given(draws, generator).to(z_SNZ.dtype)


def _fitted(
    states_NP: Tensor,
    z_SNZ: Tensor,
    most: float,
    steps: int,
    prior_draws: int,
    units: int,
    draw: Callable[[int], Tensor],
    progress: bool,
) -> float:
    samples, count, width = z_SNZ.shape
    device = z_SNZ.device
    network = leaky_layers(states_NP.shape[1] + width, units, 3, 1).to(device)
    adam = torch.optim.Adam(network.parameters(), lr=5e-4)
    pool = z_SNZ[: samples // 2].flatten(0, 1)  # row r is a sample of sentence r % count
    shuffled = torch.randperm(len(pool), device=device)
    cut = min(HELD_OUT, max(1, len(pool) // 8))
    held, learnt = shuffled[:cut], shuffled[cut:] if len(pool) > cut else shuffled

    def critic(rows: Tensor, z: Tensor) -> Tensor:
        values: Tensor = network(torch.cat([states_NP[rows], z], 1)).squeeze(1)
        return most - F.softplus(most - values)

    def prior(draws: int) -> Tensor:
        return critic(torch.randint(count, (draws,), device=device), draw(draws))

    @torch.no_grad()
    def dual(rows: Tensor, z: Tensor, draws: int) -> float:
        parts = zip(torch.split(rows, AT_ONCE), torch.split(z, AT_ONCE), strict=True)
        on_posterior = [critic(*part).double() for part in parts]
        on_prior = [prior(min(AT_ONCE, draws - start)).double() for start in range(0, draws, AT_ONCE)]
        return float(dual_kl(torch.cat(on_posterior), torch.cat(on_prior)))

    best, kept, worse = -math.inf, copy.deepcopy(network.state_dict()), 0
    bar = track(range(1, steps + 1), "fitting a critic", show=progress)
    for step in bar:
        with torch.enable_grad():
            drawn = learnt[torch.randint(len(learnt), (ROWS,), device=device)]
            loss = F.softplus(-critic(drawn % count, pool[drawn])).mean() + F.softplus(prior(ROWS)).mean()
            adam.zero_grad()
            torch.autograd.backward(loss)
        nn.utils.clip_grad_norm_(network.parameters(), 1.0)
        adam.step()
        if step % LOOK == 0 or step == steps:
            found = dual(held % count, pool[held], HELD_OUT)
            worse = 0 if found > best else worse + 1
            if found > best:
                best, kept = found, copy.deepcopy(network.state_dict())
            if worse == PATIENCE:
                break
    if best <= 0:
        return 0.0
    network.load_state_dict(kept)
    every = torch.arange(count, device=device).repeat(samples - samples // 2)
    return dual(every, z_SNZ[samples // 2 :].flatten(0, 1), prior_draws)
