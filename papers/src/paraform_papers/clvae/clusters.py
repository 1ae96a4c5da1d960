"""The synthetic clusters of clVAE's section 4.4: a category in, two numbers between, the category out.

The objectives and their steps are those of the text models (`update.py`); only the network is another. A batch's
"sentences" are categories, one word each.

Shape key: R rows, K categories, Z latent (2).
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any, ClassVar, final

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from paraform.batching import SentenceBatch
from paraform.models.latent.config import LatentConfig
from paraform.models.latent.critic import Critics
from paraform.models.latent.network import Outputs
from paraform.models.latent.posterior import Diagonal, Gaussian
from paraform.models.layers import leaky_layers

UNITS, LAYERS = 64, 3  # of every network here


@final
class OneHot(nn.Module):
    """Categories as unit vectors: what stands in an encoder's place."""

    def __init__(self, categories: int) -> None:
        super().__init__()
        self.categories = categories

    def forward(self, words_R1: Tensor, lengths_R: Tensor) -> Tensor:
        """[R, 1] → [R, K]."""
        return F.one_hot(words_R1[:, 0], self.categories).float()


@final
class ClusterPosterior(nn.Module):
    """Four layers of 64 units, on the category and, if it is implicit, on noise."""

    def __init__(self, config: LatentConfig) -> None:
        super().__init__()
        self.implicit = config.posterior == "mlp"
        inputs = config.hidden_width + (config.latent_width if self.implicit else 0)
        self.layers = leaky_layers(inputs, UNITS, LAYERS, config.latent_width * (1 if self.implicit else 2))

    def forward(self, state_RK: Tensor, noise_RZ: Tensor) -> Tensor:
        """z [R, Z]."""
        if self.implicit:
            z_RZ: Tensor = self.layers(torch.cat([state_RK, noise_RZ], -1))
            return z_RZ
        return self.gaussian(state_RK).draw(noise_RZ)

    def gaussian(self, state_RK: Tensor) -> Gaussian:
        """The density. Raises: TypeError for an implicit posterior."""
        if self.implicit:
            raise TypeError("posterior 'mlp' has no density; expected 'gaussian'")
        return Diagonal(*self.layers(state_RK).chunk(2, -1))


@final
class ClusterNetwork(nn.Module):
    """Encoder, posterior and decoder of categories."""

    def __init__(self, config: LatentConfig) -> None:
        super().__init__()
        self.config = config
        self.encoder = OneHot(config.hidden_width)
        self.posterior = ClusterPosterior(config)
        self.decoder = leaky_layers(config.latent_width, UNITS, LAYERS, config.hidden_width)

    def forward(self, source: SentenceBatch, noise_RZ: Tensor, target: SentenceBatch | None = None) -> Outputs:
        """As `LatentNetwork`; the reconstruction is the binary cross-entropy of each category, summed (section 4.1)."""
        state_RK = self.encoder(source.words_BT, source.lengths_B)
        kl_R = None
        if self.config.kl == "closed":
            gaussian = self.posterior.gaussian(state_RK)
            z_RZ, kl_R = gaussian.draw(noise_RZ), gaussian.kl()
        else:
            z_RZ = self.posterior(state_RK, noise_RZ)
        scores_RK = self.decoder(z_RZ)
        nll_R = F.binary_cross_entropy_with_logits(scores_RK, state_RK, reduction="none").sum(-1)
        return Outputs(state_RK, z_RZ, nll_R, kl_R)


@final
class ClusterModel(nn.Module):
    """A latent space of K categories.

    Args:
        config: `of(objective, categories)` makes it; its hidden_width is K.
    """

    system: ClassVar[str] = "clusters"

    def __init__(self, config: LatentConfig) -> None:
        super().__init__()
        self.config = config
        self.network = ClusterNetwork(config)
        self.critics = Critics(config) if config.critic != "none" else None

    @staticmethod
    def of(objective: str, categories: int, *, learning_rate: float) -> LatentConfig:
        """The toy's configuration of an objective; implicit posteriors are "mlp", β is 1 throughout."""
        fields: dict[str, Any] = {
            "posterior": "mlp",
            "hidden_width": categories,
            "latent_width": 2,
            "critic_width": UNITS,
            "critic_learning_rate": learning_rate,
            "learning_rate": learning_rate,
            "batch_size": 64 * categories,
            "encoder_dropout": 0.0,
        }
        return replace(LatentConfig(**fields).with_objective(objective), beta_schedule="constant")

    @torch.no_grad()
    def draw(self, each: int, generator: torch.Generator) -> tuple[Tensor, Tensor]:
        """z [K · each, Z] of every category, and the categories that it is decoded as."""
        state = torch.eye(self.config.hidden_width).repeat_interleave(each, 0)
        noise = torch.randn(len(state), self.config.latent_width, generator=generator)
        device = next(self.parameters()).device
        z = self.network.posterior(state.to(device), noise.to(device))
        return z, self.network.decoder(z).argmax(-1)

    def assets(self) -> dict[str, str]:
        """None."""
        return {}

    @classmethod
    def restore(cls, config: dict[str, Any], assets: dict[str, str]) -> ClusterModel:
        """A model with fresh weights. Raises: TypeError for an unknown field."""
        return cls(LatentConfig(**config))
