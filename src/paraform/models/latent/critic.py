"""Critics, which tell the posterior from the prior by a number, so that KL can be estimated without a density.

They take several steps for each of the network's, on states that are computed once.

Shape key: N draws, B sentences, R = views · B rows, H features of a sentence's state, Z latent.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple, final

import torch
from torch import Tensor, nn

from paraform.losses.dual_kl import circle_loss, dual_kl, squared_differences
from paraform.models.latent.config import LatentConfig
from paraform.models.layers import leaky_layers
from paraform.models.update import gather_with_gradient

LAYERS = 3  # hidden ones of each; the paper's
Values = tuple[Tensor, Tensor]
"""f [R] and g [R] of some draws."""


@final
class Critics(nn.Module):
    """f(x, z), where x is the encoder's state of the sentence, and g(z): leaky-ReLU networks to one number."""

    def __init__(self, config: LatentConfig) -> None:
        super().__init__()
        latent, width = config.latent_width, config.critic_width
        self.of_sentence = leaky_layers(config.hidden_width + latent, width, LAYERS, 1)
        self.of_latent = leaky_layers(latent, width, LAYERS, 1)

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


class Duals(NamedTuple):
    """The dual KL of both critics: of q(z|x), and of the aggregated posterior; scalars in nats."""

    of_sentence: Tensor
    of_latent: Tensor


def views_of(values_R: Tensor, views: int) -> list[Tensor]:
    """A critic's values of each view, those of all processes: what is not a mean of them is of the whole batch."""
    return [gather_with_gradient(view) for view in values_R.chunk(views)]


def critic_loss(posterior: Values, prior: Values, config: LatentConfig) -> tuple[Tensor, Duals]:
    """What the critics minimise, a mean (dual) or a sum (circle) over the views, summed over f and g; and their KLs.

    Args:
        posterior, prior: f and g where z is drawn from either, the rows of a view after those of the other.
    """
    pairs = list(zip(posterior, prior, strict=True))
    duals = Duals(*(dual_kl(*pair) for pair in pairs))
    if config.kl == "dual":
        return -(duals.of_sentence + duals.of_latent), duals
    loss = posterior[0].new_zeros(())
    by_view = [[views_of(values_R, config.views) for values_R in pair] for pair in pairs]
    for of_critic in by_view:
        for posterior_view, prior_view in zip(*of_critic, strict=True):
            loss = loss + circle_loss(posterior_view, prior_view, reduction=config.circle_reduction)
    if config.views == 2 and config.squared_term == "paper":
        loss = loss + squared_differences(*by_view[0 if config.critic == "xz" else 1][0])  # of the objective's own
    if config.views == 2 and config.squared_term == "reference":  # of g, whichever the objective has
        loss = loss + sum(squared_differences(*views) for views in by_view[1])
    return loss, duals


def train_critics(
    critics: Callable[[Tensor, Tensor], Values],
    optimizer: torch.optim.Optimizer,
    backward: Callable[[Tensor], None],
    state_RH: Tensor,
    draw: Callable[[], Tensor],
    config: LatentConfig,
) -> Duals:
    """`config.critic_steps` steps; returns the KLs of the last one.

    Args:
        backward: the accelerator's.
        state_RH: the encoder's states, without a gradient; the encoder is not run again.
        draw: z [R, Z] of those states with new noise.
    """
    duals = Duals(state_RH.new_zeros(()), state_RH.new_zeros(()))
    for _ in range(config.critic_steps):
        with torch.no_grad():
            z_RZ = draw()
            prior_RZ = torch.randn_like(z_RZ)
        # One pass over the draws of both, since the layers are small.
        rows = len(z_RZ)
        both = critics(torch.cat([state_RH, state_RH]), torch.cat([z_RZ, prior_RZ]))
        loss, duals = critic_loss((both[0][:rows], both[1][:rows]), (both[0][rows:], both[1][rows:]), config)
        optimizer.zero_grad()
        backward(loss)
        optimizer.step()
    return Duals(*(value.detach() for value in duals))
