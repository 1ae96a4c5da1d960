"""How likely sentences are: bounds that are bounds.

Shape key: N sentences, S samples of each, Z latent.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import torch
from torch import Tensor

from paraform.evaluation.latent.protocol import log_prior


def importance_bound(log_likelihood_SN: Tensor, log_proposal_SN: Tensor, z_SNZ: Tensor) -> Tensor:
    """ln 1/S Σ_s p(x|z_s) p(z_s) / r(z_s|x), z_s from r: at most ln p(x) on average (Burda et al. 2016, eq. 8).

    It rises with S. With r = q and S = 1 it is the ELBO.

    Args:
        log_likelihood_SN: ln p(x|z).
        log_proposal_SN: ln r(z|x).
        z_SNZ: drawn from r.
    Returns: [N] nats.
    """
    weights_SN = log_likelihood_SN.double() + log_prior(z_SNZ.double()) - log_proposal_SN.double()
    return weights_SN.logsumexp(0) - math.log(len(z_SNZ))


class Fitted(NamedTuple):
    """A Gaussian with the mean and the covariance of a sentence's samples, which is itself a proposal."""

    mean_NZ: Tensor
    factor_NZZ: Tensor  # lower triangular, of the covariance

    @classmethod
    def to(cls, z_SNZ: Tensor) -> Fitted:
        """Fitted to S > Z samples of each of N sentences.

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

    def sample(self, samples: int, generator: torch.Generator) -> Tensor:
        """z [S, N, Z], float32."""
        shape = (samples, *self.mean_NZ.shape)
        noise_SNZ = torch.randn(shape, generator=generator, device=self.mean_NZ.device, dtype=self.mean_NZ.dtype)
        spread_SNZ = (self.factor_NZZ @ noise_SNZ.permute(1, 2, 0)).permute(2, 0, 1)  # no copy of a factor a sample
        return (self.mean_NZ + spread_SNZ).float()

    def log_density(self, z_SNZ: Tensor) -> Tensor:
        """ln r(z|x): [S, N] nats."""
        away_NZS = (z_SNZ.double() - self.mean_NZ).permute(1, 2, 0)
        solved_NZS = torch.linalg.solve_triangular(self.factor_NZZ, away_NZS, upper=False)
        log_det_N = self.factor_NZZ.diagonal(dim1=1, dim2=2).log().sum(1)
        constant = 0.5 * self.mean_NZ.shape[1] * math.log(2 * math.pi)
        squares_SN: Tensor = solved_NZS.square().sum(1).T
        return -0.5 * squares_SN - log_det_N - constant


def tempered(posterior: Fitted, share: float) -> Fitted:
    """The Gaussian on the way from the prior to the posterior, ∝ q^share p^(1 − share), as a proposal.

    The posterior itself is a bad proposal where it is narrower than p(z|x), or far from the prior: its bound is then
    tens or hundreds of nats below ln p(x), which is the proposal's fault and not the model's. One of those on this way,
    which annealed importance sampling goes (Neal 2001), is better.

    Args:
        share: 1: the posterior; 0: the prior.
    """
    precision_NZZ = share * torch.cholesky_inverse(posterior.factor_NZZ)
    natural_NZ1 = precision_NZZ @ posterior.mean_NZ[..., None]
    identity_ZZ = torch.eye(posterior.mean_NZ.shape[1], dtype=precision_NZZ.dtype, device=precision_NZZ.device)
    covariance_NZZ = torch.cholesky_inverse(torch.linalg.cholesky(precision_NZZ + (1 - share) * identity_ZZ))
    return Fitted((covariance_NZZ @ natural_NZ1).squeeze(2), torch.linalg.cholesky(covariance_NZZ))
