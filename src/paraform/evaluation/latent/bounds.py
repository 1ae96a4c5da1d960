"""How likely sentences are: bounds that are bounds.

Shape key: N sentences, S samples of each, Z latent.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import torch
from torch import Tensor

from paraform.evaluation.latent.protocol import log_prior

PATH = (1.0, 1e-1, 1e-2, 1e-3, 1e-4, 0.0)  # β: how much of the posterior there is in each proposal of the mixture


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
    """A Gaussian with the mean and the covariance of a sentence's samples: q̂, where there is no density."""

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


class Tempered(NamedTuple):
    """A mixture, in equal parts, of the Gaussians on the way from a sentence's posterior to the prior, q̂^β p^(1−β).

    The posterior alone is a bad proposal where it is narrower than p(z|x), or far from the prior: its bound is then
    hundreds of nats below ln p(x), and says so of the proposal, not of the model. Somewhere on this way, which annealed
    importance sampling goes (Neal 2001), a proposal is better, and a mixture is at most ln 6 nats worse than any of
    its parts alone with as many samples (its weights are at most 6 times those of the part).
    """

    mean_NZ: Tensor  # along the axes, as the variance
    variance_NZ: Tensor
    axes_NZZ: Tensor  # columns

    @classmethod
    def of(cls, fitted: Fitted) -> Tempered:
        """From q̂ = `fitted`."""
        covariance_NZZ = fitted.factor_NZZ @ fitted.factor_NZZ.mT
        variance_NZ, axes_NZZ = torch.linalg.eigh(covariance_NZZ)
        mean_NZ = (fitted.mean_NZ[:, None] @ axes_NZZ).squeeze(1)
        return cls(mean_NZ, variance_NZ.clamp_min(torch.finfo(variance_NZ.dtype).tiny), axes_NZZ)

    def sample(self, samples: int, generator: torch.Generator) -> Tensor:
        """z [S, N, Z], float32, each of a part drawn by chance."""
        count, width = self.mean_NZ.shape
        device, dtype = self.mean_NZ.device, self.mean_NZ.dtype
        part_SN1 = torch.randint(len(PATH), (samples, count, 1), generator=generator, device=device)
        mean_KNZ, variance_KNZ = (torch.stack(of) for of in zip(*map(self._part, PATH), strict=True))
        noise_SNZ = torch.randn(samples, count, width, generator=generator, device=device, dtype=dtype)
        part_SNZ = part_SN1.expand(-1, -1, width)
        z_SNZ = mean_KNZ.gather(0, part_SNZ) + variance_KNZ.gather(0, part_SNZ).sqrt() * noise_SNZ
        return _turned(z_SNZ, self.axes_NZZ.mT).float()

    def log_density(self, z_SNZ: Tensor) -> Tensor:
        """ln r(z|x): [S, N] nats."""
        z_SNZ = _turned(z_SNZ.double(), self.axes_NZZ)
        parts = [_log_normal(z_SNZ, *self._part(share)) for share in PATH]
        return torch.stack(parts).logsumexp(0) - math.log(len(PATH))

    def _part(self, share: float) -> tuple[Tensor, Tensor]:
        """Mean and variance [N, Z] of q̂^share p^(1 − share)."""
        precision_NZ = share / self.variance_NZ
        variance_NZ = 1 / (precision_NZ + 1 - share)
        return variance_NZ * precision_NZ * self.mean_NZ, variance_NZ


def _turned(z_SNZ: Tensor, to_NZZ: Tensor) -> Tensor:
    """Each sentence's samples along other axes, the columns of `to_NZZ`."""
    turned_NSZ: Tensor = z_SNZ.transpose(0, 1) @ to_NZZ
    return turned_NSZ.transpose(0, 1)


def _log_normal(z_SNZ: Tensor, mean_NZ: Tensor, variance_NZ: Tensor) -> Tensor:
    """[S, N] nats."""
    constant_N = variance_NZ.log().sum(1) + mean_NZ.shape[1] * math.log(2 * math.pi)
    squares_SN: Tensor = ((z_SNZ - mean_NZ).square() / variance_NZ).sum(-1)
    return -0.5 * (squares_SN + constant_N)
