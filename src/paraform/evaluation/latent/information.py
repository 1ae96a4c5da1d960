"""How much a latent vector tells of its sentence, by one estimator for all models.

Shape key: N sentences, S samples of each, M of all samples together, Z latent.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import torch
from torch import Tensor

CELLS = 1 << 22  # densities times Z held at once

AT_LEAST = 0.01  # variance of an active unit (Burda et al. 2016)


def mutual_information(z_SNZ: Tensor, log_density: Callable[[Tensor], Tensor], *, within: int | None = None) -> float:
    """I(x; z) = E[ln q(z|x) − ln 1/N Σ_n q(z|x_n)] over a whole evaluation set; at most ln N, and 0 if z tells nothing.

    Args:
        z_SNZ: samples of each sentence's posterior.
        log_density: z [M, N, Z] → ln q(z_mn|x_n) [M, N].
        within: sentences that stand for the aggregated posterior, in turn; None: all N. He et al. (2019) take the 32
            of a batch, which bounds it by ln 32.
    Returns: nats.
    """
    samples, count, width = z_SNZ.shape
    own_SN = log_density(z_SNZ)
    total = 0.0
    size = within or count
    step = max(1, CELLS // (count * width))
    rows = torch.arange(count, device=z_SNZ.device)
    for z_NZ, own_N in zip(z_SNZ, own_SN, strict=True):
        for start in range(0, count, step):
            some_MZ = z_NZ[start : start + step]
            density_MN = log_density(some_MZ[:, None].expand(-1, count, -1))
            if within is not None:
                here_M = rows[start : start + len(some_MZ)] // size
                density_MN = density_MN.masked_fill(rows // size != here_M[:, None], float("-inf"))
                sizes_M = (rows // size == here_M[:, None]).sum(1)
            else:
                sizes_M = torch.full((len(some_MZ),), count, device=z_SNZ.device)
            aggregated_M = density_MN.double().logsumexp(1) - sizes_M.double().log()
            total += float((own_N[start : start + len(some_MZ)].double() - aggregated_M).sum())
    return total / (samples * count)


def active_units(mean_NZ: Tensor, noise_Z: Tensor | None = None) -> int:
    """Dimensions whose mean E[z|x] varies with the sentence: Var_x > 0.01 (Burda et al. 2016, appendix C).

    Args:
        noise_Z: by how much a mean varies for no reason: of S samples, by 1/S of the posterior's variance. None: not.
    """
    if len(mean_NZ) < 2:
        return 0
    return int((mean_NZ.var(0) - (0 if noise_Z is None else noise_Z) > AT_LEAST).sum())


def most_information(sentences: int) -> float:
    """ln N: no code of N sentences tells more, in nats."""
    return math.log(sentences)
