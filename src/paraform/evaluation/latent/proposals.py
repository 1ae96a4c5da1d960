"""What samples of z are drawn from in place of a posterior: Gaussians between it and the prior, or fitted to p(z|x).

Shape key: N sentences, S samples of each of a round, M of all rounds so far, Z latent.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import NamedTuple

import torch
from torch import Tensor

from paraform.evaluation.latent.protocol import log_prior
from paraform.records import InputError

ROUNDS = 4
EFFECTIVE = 8  # one in so many samples that a Gaussian is fitted to counts, at least
BROAD = 0.1  # of the draws are still from where the fit began: no weight is above 1 / BROAD of what it would be there
HALVINGS = 30  # of the interval that an exponent is sought in
NARROWEST = 1e-3  # deviation of a fit, which has none where one draw counts for all


class GaussianProposal(NamedTuple):
    """A Gaussian of each sentence, to draw z from; float64."""

    mean_NZ: Tensor
    factor_NZZ: Tensor  # lower triangular, of the covariance

    @classmethod
    def of_root(cls, mean_NZ: Tensor, root_NZZ: Tensor) -> GaussianProposal:
        """N(mean, A Aᵀ) with A = `root_NZZ`."""
        upper_NZZ = torch.linalg.qr(root_NZZ.double().mT).R  # A Aᵀ = Rᵀ R
        signs_NZ1 = upper_NZZ.diagonal(dim1=1, dim2=2).sign()[..., None]
        return cls(mean_NZ.double(), (upper_NZZ * signs_NZ1).mT)

    @classmethod
    def fitted(cls, z_SNZ: Tensor) -> GaussianProposal:
        """With the mean and the covariance of S > Z samples of each of N sentences.

        The fewer the samples, the further it is from the posterior's: by about Z² / 4S nats.
        Raises: InputError for fewer samples than Z + 1.
        """
        samples, _, width = z_SNZ.shape
        if samples <= width:
            raise InputError(f"{samples} samples of {width} numbers; expected more samples, at least {width + 1}")
        z_SNZ = z_SNZ.double()
        mean_NZ = z_SNZ.mean(0)
        away_NSZ = (z_SNZ - mean_NZ).transpose(0, 1)
        covariance_NZZ = away_NSZ.transpose(1, 2) @ away_NSZ / (samples - 1)
        ridge_N = 1e-6 * covariance_NZZ.diagonal(dim1=1, dim2=2).mean(1) + 1e-8  # where there is no noise at all
        covariance_NZZ += ridge_N[:, None, None] * torch.eye(width, dtype=z_SNZ.dtype, device=z_SNZ.device)
        return cls(mean_NZ, torch.linalg.cholesky(covariance_NZZ))

    def rows(self, at: slice) -> GaussianProposal:
        """Those of some of the sentences."""
        return GaussianProposal(self.mean_NZ[at], self.factor_NZZ[at])

    def tempered(self, share: float) -> GaussianProposal:
        """The Gaussian on the way from the prior to this one, q, ∝ q^s p^(1 − s) (the path of Neal 2001).

        With mean μ and covariance Σ of q its precision is Λ = s Σ⁻¹ + (1 − s) I, its mean Λ⁻¹ s Σ⁻¹ μ. The posterior
        that a β-VAE should have is ∝ p(z) p(x|z)^(1/β), narrower than p(z|x), which is the tempered one with s = β.

        Args:
            share: s, from 0 (the prior) to 1 (q itself).
        """
        if share == 1:
            return self
        axes_NZZ, deviation_NZ, _ = torch.linalg.svd(self.factor_NZZ)  # Σ is never inverted: it may be very narrow
        variance_NZ = deviation_NZ.square()
        weight_NZ = share + (1 - share) * variance_NZ
        along_NZ1 = axes_NZZ.mT @ self.mean_NZ[..., None] * (share / weight_NZ)[..., None]
        spread_NZZ = axes_NZZ * (variance_NZ / weight_NZ).sqrt()[:, None]
        return GaussianProposal.of_root((axes_NZZ @ along_NZ1).squeeze(2), spread_NZZ)

    def sample(self, samples: int, generator: torch.Generator) -> Tensor:
        """z [S, N, Z], float64: in float32 a z of a narrow Gaussian is not where it was drawn."""
        shape = (samples, *self.mean_NZ.shape)
        noise_SNZ = torch.randn(shape, generator=generator, device=self.mean_NZ.device, dtype=self.mean_NZ.dtype)
        spread_SNZ = (self.factor_NZZ @ noise_SNZ.permute(1, 2, 0)).permute(2, 0, 1)  # no copy of a factor a sample
        return self.mean_NZ + spread_SNZ

    def log_density(self, z_SNZ: Tensor) -> Tensor:
        """ln r(z|x): [S, N] nats."""
        away_NZS = (z_SNZ.double() - self.mean_NZ).permute(1, 2, 0)
        solved_NZS = torch.linalg.solve_triangular(self.factor_NZZ, away_NZS, upper=False)
        log_det_N = self.factor_NZZ.diagonal(dim1=1, dim2=2).log().sum(1)
        constant = 0.5 * self.mean_NZ.shape[1] * math.log(2 * math.pi)
        squares_SN: Tensor = solved_NZS.square().sum(1).T
        return -0.5 * squares_SN - log_det_N - constant


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
        begun: the proposals of N sentences to begin with.
        samples: draws of each, in all rounds.
        generator: the draws'.
    Returns: the proposals of the N sentences.
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
