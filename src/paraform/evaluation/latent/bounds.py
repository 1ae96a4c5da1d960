"""How likely sentences are: bounds that are bounds.

Shape key: N sentences, S samples of each, Q a quarter of them, Z latent.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import torch
from torch import Tensor

from paraform.evaluation.latent.protocol import log_prior


def log_weights(log_likelihood_SN: Tensor, log_proposal_SN: Tensor, z_SNZ: Tensor) -> Tensor:
    """ln p(x|z) p(z) / r(z|x), z from r.

    Args:
        log_likelihood_SN: ln p(x|z).
        log_proposal_SN: ln r(z|x).
        z_SNZ: drawn from r.
    Returns: [S, N] nats, float64.
    """
    return log_likelihood_SN.double() + log_prior(z_SNZ.double()) - log_proposal_SN.double()


def importance_bound(log_weights_SN: Tensor) -> Tensor:
    """ln 1/S Σ_s w_s with w = p(x|z) p(z) / r(z|x): at most ln p(x) on average (Burda et al. 2016, eq. 8).

    It rises with S. With r = q and S = 1 it is the ELBO.

    Args:
        log_weights_SN: [S, N] ln w, of S ≥ 1 samples of r.
    Returns: [N] nats.
    """
    return log_weights_SN.logsumexp(0) - math.log(len(log_weights_SN))


def bound_by_a_quarter(log_weights_SN: Tensor) -> Tensor:
    """The same bound by a quarter of the samples: how much four times as many have brought.

    It is the mean over four quarters, so that it is never above the bound by all (of a multiple of 4).

    Args:
        log_weights_SN: [S, N], as for `importance_bound`.
    Returns: [N] nats; NaN for less than 4 samples.
    """
    few = len(log_weights_SN) // 4
    if not few:
        return torch.full_like(log_weights_SN[0], math.nan)
    quarters_4QN = log_weights_SN[: 4 * few].reshape(4, few, -1)
    return torch.stack([importance_bound(weights_QN) for weights_QN in quarters_4QN]).mean(0)


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
        Raises: ValueError for fewer samples than Z + 1.
        """
        samples, _, width = z_SNZ.shape
        if samples <= width:
            raise ValueError(f"{samples} samples of {width} numbers; expected more samples, at least {width + 1}")
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


def tempered(posterior: GaussianProposal, share: float) -> GaussianProposal:
    """The Gaussian on the way from the prior to the posterior, ∝ q^s p^(1 − s) (the path of Neal 2001).

    Its precision is Λ = s Σ⁻¹ + (1 − s) I, its mean Λ⁻¹ s Σ⁻¹ μ. The posterior that a β-VAE should have is
    ∝ p(z) p(x|z)^(1/β), narrower than p(z|x), which is the tempered one with s = β.

    Args:
        posterior: q, with mean μ and covariance Σ.
        share: s, from 0 (the prior) to 1 (the posterior).
    """
    if share == 1:
        return posterior
    axes_NZZ, deviation_NZ, _ = torch.linalg.svd(posterior.factor_NZZ)  # Σ is never inverted: it may be very narrow
    variance_NZ = deviation_NZ.square()
    weight_NZ = share + (1 - share) * variance_NZ
    along_NZ1 = axes_NZZ.mT @ posterior.mean_NZ[..., None] * (share / weight_NZ)[..., None]
    spread_NZZ = axes_NZZ * (variance_NZ / weight_NZ).sqrt()[:, None]
    return GaussianProposal.of_root((axes_NZZ @ along_NZ1).squeeze(2), spread_NZZ)
