"""The posterior of a sentence: von Mises–Fisher for what it says, and a Gaussian for how it says it.

Shape key: B sentences, S samples of each, N rows of draws, M dimensions of the semantic sphere's space, Z syntactic
latent.
"""

from __future__ import annotations

from typing import NamedTuple

import torch
import torch.nn.functional as F
from torch import Tensor

from paraform.models.latent.posterior import Diagonal
from paraform_papers.rivals.vgvae.von_mises_fisher import implicit_slope, log_mgf, log_uniform, mean_length, vmf_kl


class Noise(NamedTuple):
    """Where draws come from: a generator, and which rows of all that are drawn together are wanted.

    Several processes that share a batch draw for all of it, each takes its own rows, and so they draw as one would.

    Args:
        total: rows that are drawn together.
        rows_N: which of them; None: all.
    """

    generator: torch.Generator
    total: int
    rows_N: Tensor | None = None

    def normal(self, width: int) -> Tensor:
        """[N, width] of N(0, I)."""
        drawn = torch.randn(self.total, width, generator=self.generator, device=self.generator.device)
        return drawn if self.rows_N is None else drawn[self.rows_N]

    def uniform(self) -> Tensor:
        """[N] from 0 to 1."""
        drawn = torch.rand(self.total, generator=self.generator, device=self.generator.device)
        return drawn if self.rows_N is None else drawn[self.rows_N]


class VonMisesFisher(NamedTuple):
    """vMF(μ, κ) of each sentence, on the unit sphere: directions [B, M] of length 1, and concentrations [B] ≥ 0."""

    direction_BM: Tensor
    concentration_B: Tensor

    @property
    def width(self) -> int:
        """M."""
        return self.direction_BM.shape[-1]

    def mean(self) -> Tensor:
        """E[y] = A(κ) μ, [B, M]."""
        return (mean_length(self.concentration_B, self.width)[:, None] * self.direction_BM).to(self.direction_BM.dtype)

    def draw(self, noise: Noise) -> Tensor:
        """[B, M] of length 1, with gradients to μ and κ.

        y = t μ + √(1 − t²) v, v a direction at right angles to μ, and t by rejection (Wood 1994). A gradient goes
        through μ by that equation, and through κ by `implicit_slope` of t.
        """
        across_BM = noise.normal(self.width).to(self.direction_BM.dtype)  # first: rejection takes as many as it takes
        along_B = drawn_along(self.concentration_B, self.width, noise)
        if torch.is_grad_enabled() and self.concentration_B.requires_grad:
            kappa_B = self.concentration_B.double()
            along_B = along_B + implicit_slope(along_B, kappa_B, self.width) * (kappa_B - kappa_B.detach())
        along_B1 = along_B[:, None]
        across_BM = across_BM - (across_BM * self.direction_BM).sum(-1, keepdim=True) * self.direction_BM
        away_B1 = (1 - along_B1.square()).clamp_min(1e-12).sqrt()
        dtype = self.direction_BM.dtype
        return along_B1.to(dtype) * self.direction_BM + away_B1.to(dtype) * F.normalize(across_BM, dim=-1)

    def kl(self) -> Tensor:
        """KL from the uniform distribution, in closed form: [B] nats."""
        return vmf_kl(self.concentration_B, self.width)

    def log_density(self, y_SBM: Tensor) -> Tensor:
        """ln q(y|x) of [..., B, M], by the sphere's surface: [..., B] nats."""
        along = (y_SBM * self.direction_BM.to(y_SBM.dtype)).sum(-1)
        return along * self.concentration_B - log_mgf(self.concentration_B, self.width) + log_uniform(self.width)


@torch.no_grad()
def drawn_along(concentration_B: Tensor, width: int, noise: Noise) -> Tensor:
    """t = μ·y of one draw of each vMF(μ, κ), [B] float64, by rejection (Wood 1994, algorithm VM*); NaN where κ is.

    A proposal is a Möbius map of a Beta variable, which a coordinate of a uniform direction is up to scale.
    """
    kappa_B, rest = concentration_B.double(), width - 1
    b_B = rest / (2 * kappa_B + (4 * kappa_B.square() + rest**2).sqrt())
    top_B = (1 - b_B) / (1 + b_B)
    most_B = kappa_B * top_B + rest * torch.log1p(-top_B.square())
    along_B, waiting_B = 0 * kappa_B, kappa_B.isfinite()  # of NaN no proposal would ever be taken
    while bool(waiting_B.any()):
        beta_B = (1 + F.normalize(noise.normal(width).double(), dim=-1)[:, 0]) / 2
        proposed_B = (1 - (1 + b_B) * beta_B) / (1 - (1 - b_B) * beta_B)
        log_ratio_B = kappa_B * proposed_B + rest * torch.log1p(-top_B * proposed_B) - most_B
        taken_B = waiting_B & (log_ratio_B >= noise.uniform().double().log())
        along_B = proposed_B.where(taken_B, along_B)
        waiting_B &= ~taken_B
    return along_B.clamp(-1 + 1e-12, 1 - 1e-12)


def parts_of(latent: Tensor, semantic_width: int) -> tuple[Tensor, Tensor]:
    """y and z of [y; z]: [..., M] and the rest."""
    return latent[..., :semantic_width], latent[..., semantic_width:]


class Product(NamedTuple):
    """q(y|x) q(z|x): both parts of each sentence; a sample is [y; z]."""

    semantic: VonMisesFisher
    syntax: Diagonal

    @classmethod
    def of(cls, encoded_BP: Tensor, semantic_width: int) -> Product:
        """What `packed` made one tensor of."""
        direction_BM, rest = parts_of(encoded_BP, semantic_width)
        return cls(VonMisesFisher(direction_BM, rest[:, 0]), Diagonal(*rest[:, 1:].chunk(2, -1)))

    def packed(self) -> Tensor:
        """[B, P]: all numbers that name the posteriors."""
        return torch.cat([self.semantic.direction_BM, self.semantic.concentration_B[:, None], *self.syntax], -1)

    def mean(self) -> Tensor:
        """E[y; z], [B, M + Z]."""
        return torch.cat([self.semantic.mean(), self.syntax.mean_BZ], -1)

    def kl(self) -> Tensor:
        """KL from the prior, uniform and N(0, I): [B] nats."""
        return self.semantic.kl() + self.syntax.kl()

    def rows(self, at: slice) -> Product:
        """Those of some of the sentences."""
        return Product(
            VonMisesFisher(*(part[at] for part in self.semantic)), Diagonal(*(part[at] for part in self.syntax))
        )

    def sample(self, samples: int, generator: torch.Generator) -> Tensor:
        """[y; z], [S, B, M + Z], float64: in float32 a sample of a narrow posterior is not where it was drawn."""
        count = len(self.semantic.concentration_B)
        noise = Noise(generator, samples * count)
        repeated = VonMisesFisher(
            self.semantic.direction_BM.double().repeat(samples, 1), self.semantic.concentration_B.repeat(samples)
        )
        y_NM = F.normalize(repeated.draw(noise), dim=-1)
        syntax = Diagonal(*(part.double() for part in self.syntax))
        z_SBZ = syntax.draw(noise.normal(syntax.mean_BZ.shape[1]).double().view(samples, count, -1))
        return torch.cat([y_NM.view(samples, count, -1), z_SBZ], -1)

    def log_density(self, latent_SBL: Tensor) -> Tensor:
        """ln q(y|x) + ln q(z|x) of [..., B, M + Z]: [..., B] nats, float64."""
        y, z = parts_of(latent_SBL.double(), self.semantic.width)
        syntax = Diagonal(*(part.double() for part in self.syntax))
        return self.semantic.log_density(y) + syntax.log_density(z)

    def tempered(self, share: float) -> Product:
        """∝ q^s p^(1 − s): of vMF(μ, κ) vMF(μ, s κ); of the Gaussian, precisions and what they weigh are mixed."""
        mean_BZ, log_variance_BZ = (part.double() for part in self.syntax)
        precision_BZ = share * (-log_variance_BZ).exp() + 1 - share
        tempered_BZ = share * (-log_variance_BZ).exp() * mean_BZ / precision_BZ
        return Product(
            VonMisesFisher(self.semantic.direction_BM, share * self.semantic.concentration_B),
            Diagonal(tempered_BZ, -precision_BZ.log()),
        )
