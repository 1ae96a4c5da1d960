"""How much a latent vector tells of its sentence, by one estimator for all models.

Shape key: N sentences, S samples of each, M of all samples together, Z latent, B batches of n.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import torch
import torch.nn.functional as F
from torch import Tensor

CELLS = 1 << 22  # densities times Z held at once
AT_LEAST = 0.01  # variance of an active unit (Burda et al. 2016)


def mutual_information(z_SNZ: Tensor, log_density: Callable[[Tensor], Tensor]) -> float:
    """I(x; z) = E[ln q(z|x) − ln 1/N Σ_n q(z|x_n)] over a whole evaluation set; at most ln N, and 0 if z tells nothing.

    Args:
        z_SNZ: samples of each sentence's posterior.
        log_density: z [M, N, Z] → ln q(z_mn|x_n) [M, N].
    Returns: nats.
    """
    samples, count, _ = z_SNZ.shape
    total = 0.0
    for z_NZ, own_N in zip(z_SNZ, log_density(z_SNZ), strict=True):
        for at in _parts(count, z_NZ):
            density_MN = log_density(z_NZ[at, None].expand(-1, count, -1))
            total += _above_mean(own_N[at], density_MN, torch.full_like(own_N[at], count))
    return total / (samples * count)


def batch_information(z_SNZ: Tensor, log_density: Callable[[Tensor], Tensor], *, size: int = 32) -> float:
    """The same with the sentences of a batch for all N, batch by batch, as He et al. (2019) do: at most ln `size`."""
    samples, count, _ = z_SNZ.shape
    starts_N = torch.arange(count, device=z_SNZ.device) // size * size
    ends_N = (starts_N + size).clamp_max(count)
    batches = -(-count // size)
    total = 0.0
    for z_NZ, own_N in zip(z_SNZ, log_density(z_SNZ), strict=True):
        for at in _parts(min(size, count), z_NZ):
            # The m-th sample of its batch before each sentence: so many rows of N densities are all that there are.
            members_MN = starts_N + torch.arange(at.start, at.stop, device=z_NZ.device)[:, None]
            missing_MN = members_MN >= ends_N
            members_MN = members_MN.where(~missing_MN, 0)
            density_MN = log_density(z_NZ[members_MN]).masked_fill(missing_MN, float("-inf"))
            density_MBn = F.pad(density_MN, (0, batches * size - count), value=float("-inf")).view(-1, batches, size)
            first_MB, there_MB = members_MN[:, ::size], ~missing_MN[:, ::size]
            of_J = first_MB[there_MB]
            total += _above_mean(own_N[of_J], density_MBn[there_MB], (ends_N - starts_N)[of_J])
    return total / (samples * count)


def _above_mean(own_M: Tensor, density_MN: Tensor, counts_M: Tensor) -> float:
    """Σ_m of ln q(z_m|x_m) less the logarithm of the mean density of z_m."""
    aggregated_M = density_MN.double().logsumexp(1) - counts_M.double().log()
    return float((own_M.double() - aggregated_M).sum())


def _parts(rows: int, z_NZ: Tensor) -> list[slice]:
    step = max(1, CELLS // z_NZ.numel())
    return [slice(start, min(start + step, rows)) for start in range(0, rows, step)]


def active_units(mean_NZ: Tensor, noise_Z: Tensor | None = None, *, of_prior_Z: Tensor | None = None) -> int:
    """Dimensions whose mean E[z|x] varies with the sentence: Var_x > 0.01 (Burda et al. 2016, appendix C).

    Args:
        noise_Z: by how much a mean varies for no reason: of S samples, by 1/S of the posterior's variance. None: not.
        of_prior_Z: the prior's own variance, which 0.01 is a share of; None: 1.
    """
    if len(mean_NZ) < 2:
        return 0
    least = AT_LEAST if of_prior_Z is None else AT_LEAST * of_prior_Z.to(mean_NZ.device)
    return int((mean_NZ.var(0) - (0 if noise_Z is None else noise_Z) > least).sum())


def most_information(sentences: int) -> float:
    """ln N: no code of N sentences tells more, in nats."""
    return math.log(sentences)
