"""A proposal fitted to each sentence's p(z|x), by rounds of importance sampling.

Shape key: N sentences, S samples of each of a round, M of all rounds so far, Z latent.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import NamedTuple

import torch
from torch import Tensor

from paraform.evaluation.latent.bounds import GaussianProposal
from paraform.evaluation.latent.protocol import log_prior

ROUNDS = 4
EFFECTIVE = 8  # one in so many samples that a Gaussian is fitted to counts, at least
BROAD = 0.1  # of the draws are still from where the fit began: no weight is above 1 / BROAD of what it would be there
HALVINGS = 30  # of the interval that an exponent is sought in
NARROWEST = 1e-3  # deviation of a fit, which has none where one draw counts for all


class Mixture(NamedTuple):
    """A Gaussian of each sentence, and another that a part of the draws is of (Hesterberg 1995)."""

    fitted: GaussianProposal
    broad: GaussianProposal

    def sample(self, samples: int, generator: torch.Generator) -> Tensor:
        """z [S, N, Z], float64."""
        fitted_SNZ, broad_SNZ = (proposal.sample(samples, generator) for proposal in self)
        chosen_SN1 = torch.rand((*fitted_SNZ.shape[:2], 1), generator=generator, device=fitted_SNZ.device) < BROAD
        return broad_SNZ.where(chosen_SN1, fitted_SNZ)

    def log_density(self, z_SNZ: Tensor) -> Tensor:
        """ln r(z|x): [S, N] nats."""
        fitted_SN = self.fitted.log_density(z_SNZ) + math.log1p(-BROAD)
        return torch.logaddexp(fitted_SN, self.broad.log_density(z_SNZ) + math.log(BROAD))


def adapted(
    log_likelihood: Callable[[Tensor], Tensor], begun: GaussianProposal, samples: int, generator: torch.Generator
) -> Mixture:
    """A Gaussian of independent numbers, nearer to p(z|x) than where it began, fitted in `ROUNDS` rounds of draws.

    Each round draws from the last fit, and all draws so far are fitted to, weighted by p(z) p(x|z) over the mixture of
    what they were drawn from (adaptive multiple importance sampling, Cornuet et al. 2012), to the power of τ. That, one
    of each sentence, is as near to 1 as leaves one in `EFFECTIVE` of the draws to count: the weights themselves would
    be those of a few draws (Koblents & Míguez 2015). Bounds are of other draws than these, and so remain bounds.

    Args:
        log_likelihood: z [S, N, Z] → ln p(x|z) [S, N].
        begun: of N sentences.
        samples: of each, of all rounds.
        generator: of the draws.
    Returns: of the N sentences.
    """
    drawn_from = [Mixture(begun, begun)]
    drawn, likely = [], []
    for size in _sizes(samples):
        drawn.append(drawn_from[-1].sample(size, generator))
        likely.append(log_likelihood(drawn[-1]).double())
        z_MNZ = torch.cat(drawn)
        density_MN = torch.stack([proposal.log_density(z_MNZ) for proposal in drawn_from]).logsumexp(0)
        weights_MN1 = _tempered_weights(torch.cat(likely) + log_prior(z_MNZ) - density_MN)[..., None]
        mean_NZ = (weights_MN1 * z_MNZ).sum(0)
        variance_NZ = (weights_MN1 * (z_MNZ - mean_NZ).square()).sum(0)
        deviation_NZ = variance_NZ.sqrt().clamp_min(NARROWEST)
        drawn_from.append(Mixture(GaussianProposal(mean_NZ, deviation_NZ.diag_embed()), begun))
    return drawn_from[-1]


def _sizes(samples: int) -> list[int]:
    """Of each round, as equal as can be; at least one sample each."""
    return [max(1, samples * (turn + 1) // ROUNDS - samples * turn // ROUNDS) for turn in range(ROUNDS)]


def _tempered_weights(log_weights_MN: Tensor) -> Tensor:
    """[M, N] ∝ w^τ, which sum to 1, with the largest τ ≤ 1 by which at least M / `EFFECTIVE` of them count."""
    low_N = torch.full_like(log_weights_MN[0], 0.5**HALVINGS)  # not 0, by which −∞ would be NaN
    high_N = torch.full_like(low_N, 2.0)  # whose middle is 1
    for _ in range(HALVINGS):
        middle_N = (low_N + high_N) / 2
        weights_MN = (middle_N * log_weights_MN).softmax(0)
        enough_N = weights_MN.square().sum(0) * len(weights_MN) <= EFFECTIVE  # 1 / Σ w² is the number that counts
        low_N, high_N = low_N.where(~enough_N, middle_N), high_N.where(enough_N, middle_N)
    return (low_N.clamp_max(1) * log_weights_MN).softmax(0)
