"""The critics' inner steps: several a step of the network, on states that are computed once.

Shape key: B sentences, R = views · B rows, H features of a state, Z latent.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import torch
from torch import Tensor

from paraform.losses.dual_kl import circle_loss, dual_kl, squared_differences
from paraform.models.latent.config import LatentConfig

Values = tuple[Tensor, Tensor]
"""f [R] and g [R] of some draws."""


class Duals(NamedTuple):
    """The dual KL of both critics: of q(z|x), and of the aggregated posterior; scalars in nats."""

    of_sentence: Tensor
    of_latent: Tensor


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
    for on_posterior, on_prior in pairs:
        for posterior_view, prior_view in zip(
            on_posterior.chunk(config.views), on_prior.chunk(config.views), strict=True
        ):
            loss = loss + circle_loss(posterior_view, prior_view, reduction=config.circle_reduction)
    own = 0 if config.critic == "xz" else 1  # which of them the objective has
    if config.views == 2 and config.squared_term == "paper":
        loss = loss + squared_differences(*posterior[own].chunk(2))
    if config.views == 2 and config.squared_term == "reference":  # of g, whichever the objective has
        loss = loss + squared_differences(*posterior[1].chunk(2)) + squared_differences(*prior[1].chunk(2))
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
        backward: of the accelerator.
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
