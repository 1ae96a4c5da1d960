"""Posteriors q(z|x): from a sentence's state and noise to a latent vector.

Shape key: B sentences, S samples of each, H features of the state, Z latent, E noise (= Z).
"""

from __future__ import annotations

import math
from typing import NamedTuple, TypeAlias, final

import torch
from torch import Tensor, nn

from paraform.losses.gaussian_kl import affine_kl, gaussian_kl
from paraform.models.latent.config import LatentConfig

LOG_2_PI = math.log(2 * math.pi)


class Diagonal(NamedTuple):
    """N(μ, diag σ²) of each sentence: [B, Z] both."""

    mean_BZ: Tensor
    log_variance_BZ: Tensor

    def draw(self, noise_SBE: Tensor) -> Tensor:
        """[..., B, E] standard normal noise → [..., B, Z] samples."""
        return self.mean_BZ + noise_SBE * (0.5 * self.log_variance_BZ).exp()

    def root(self) -> Tensor:
        """A [B, Z, Z] with the covariance A Aᵀ."""
        return torch.diag_embed((0.5 * self.log_variance_BZ).exp())

    def kl(self) -> Tensor:
        """KL from N(0, I), in closed form: [B] nats."""
        return gaussian_kl(self.mean_BZ, self.log_variance_BZ)

    def log_density(self, z_SBZ: Tensor) -> Tensor:
        """ln q(z|x) of [..., B, Z]: [..., B] nats."""
        squares = (z_SBZ - self.mean_BZ).square() * (-self.log_variance_BZ.to(z_SBZ.dtype)).exp()
        return -0.5 * (squares + self.log_variance_BZ + LOG_2_PI).sum(-1)


class Shared(NamedTuple):
    """N(μ, W Wᵀ): a mean [B, Z] of each sentence, and one noise weight [Z, E] for all."""

    mean_BZ: Tensor
    noise_weight_ZE: Tensor

    def draw(self, noise_SBE: Tensor) -> Tensor:
        """[..., B, E] standard normal noise → [..., B, Z] samples."""
        return self.mean_BZ + noise_SBE @ self.noise_weight_ZE.T.to(noise_SBE.dtype)

    def root(self) -> Tensor:
        """A [B, Z, E] with the covariance A Aᵀ."""
        return self.noise_weight_ZE.expand(len(self.mean_BZ), -1, -1)

    def kl(self) -> Tensor:
        """KL from N(0, I), in closed form: [B] nats."""
        return affine_kl(self.mean_BZ, self.noise_weight_ZE)

    def log_density(self, z_SBZ: Tensor) -> Tensor:
        """ln q(z|x) of [..., B, Z]: [..., B] nats."""
        factor_ZZ = torch.linalg.qr(self.noise_weight_ZE.double().T).R  # W Wᵀ = Rᵀ R; in float64, as `affine_kl`
        away_SBZ: Tensor = torch.linalg.solve_triangular(
            factor_ZZ, (z_SBZ - self.mean_BZ).double(), upper=True, left=False
        )
        half_log_det = factor_ZZ.diagonal().abs().log().sum()
        log_density_SB: Tensor = -0.5 * (away_SBZ.square() + LOG_2_PI).sum(-1) - half_log_det
        return log_density_SB.to(z_SBZ.dtype)


Gaussian: TypeAlias = Diagonal | Shared


@final
class PosteriorLayer(nn.Module):
    """q(z|x) on a sentence's state, of one of the four kinds of `LatentConfig.posterior`."""

    def __init__(self, config: LatentConfig) -> None:
        super().__init__()
        self.kind = config.posterior
        self.latent_width = config.latent_width
        hidden, latent = config.hidden_width, config.latent_width
        self.mean = nn.Linear(hidden, latent) if self.kind != "mlp" else None
        self.log_variance = nn.Linear(hidden, latent) if self.kind == "gaussian" else None
        self.noise = nn.Linear(latent, latent, bias=False) if self.kind == "affine" else None
        self.mlp = (
            nn.Sequential(nn.Linear(hidden + latent, hidden), nn.LeakyReLU(), nn.Linear(hidden, latent))
            if self.kind == "mlp"
            else None
        )

    def forward(self, state_BH: Tensor, noise_SBE: Tensor) -> Tensor:
        """[B, H] and [..., B, E] standard normal noise → z [..., B, Z]; a "point" has no noise."""
        if self.mlp is not None:
            wide = state_BH.expand(*noise_SBE.shape[:-1], state_BH.shape[-1])
            z: Tensor = self.mlp(torch.cat([wide, noise_SBE], -1))
            return z
        if self.kind == "point":
            return self.mean_of(state_BH).expand(noise_SBE.shape)
        return self.gaussian(state_BH).draw(noise_SBE)

    def mean_of(self, state_BH: Tensor) -> Tensor:
        """E[z|x], [B, Z]. Raises: TypeError for an implicit posterior, whose samples must be averaged."""
        if self.mean is None:
            raise TypeError("posterior 'mlp' has no mean in closed form; average its samples")
        mean: Tensor = self.mean(state_BH)
        return mean

    def gaussian(self, state_BH: Tensor) -> Gaussian:
        """The density, if it has one. Raises: TypeError for "mlp" and "point"."""
        if self.log_variance is not None:
            return Diagonal(self.mean_of(state_BH), self.log_variance(state_BH))
        if self.noise is not None:
            return Shared(self.mean_of(state_BH), self.noise.weight)
        raise TypeError(f"posterior {self.kind!r} has no density; expected 'gaussian' or 'affine'")
