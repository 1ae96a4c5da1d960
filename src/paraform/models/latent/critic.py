"""Critics: what tells the posterior from the prior by a number, so that KL can be estimated without a density.

Shape key: N draws, H features of a sentence's state, Z latent.
"""

from __future__ import annotations

from typing import final

import torch
from torch import Tensor, nn

from paraform.models.latent.config import LatentConfig


@final
class Critics(nn.Module):
    """f(x, z), where x is the encoder's state of the sentence, and g(z): leaky-ReLU networks to one number."""

    def __init__(self, config: LatentConfig) -> None:
        super().__init__()
        self.of_sentence = _network(config.hidden_width + config.latent_width, config)
        self.of_latent = _network(config.latent_width, config)

    def forward(self, state_NH: Tensor, z_NZ: Tensor) -> tuple[Tensor, Tensor]:
        """f [N] and g [N]."""
        return self.sentence(state_NH, z_NZ), self.latent(z_NZ)

    def sentence(self, state_NH: Tensor, z_NZ: Tensor) -> Tensor:
        """f [N]. No gradient flows to the state: it only names the sentence whose KL is estimated."""
        values_N: Tensor = self.of_sentence(torch.cat([state_NH.detach(), z_NZ], -1)).squeeze(-1)
        return values_N.to(z_NZ.dtype)  # of 16 bits, as autocast leaves them, an exponential would make too much

    def latent(self, z_NZ: Tensor) -> Tensor:
        """g [N]."""
        values_N: Tensor = self.of_latent(z_NZ).squeeze(-1)
        return values_N.to(z_NZ.dtype)


def _network(inputs: int, config: LatentConfig) -> nn.Sequential:
    layers: list[nn.Module] = []
    for _ in range(config.critic_layers):
        layers += [nn.Linear(inputs, config.critic_width), nn.LeakyReLU()]
        inputs = config.critic_width
    return nn.Sequential(*layers, nn.Linear(inputs, 1))
