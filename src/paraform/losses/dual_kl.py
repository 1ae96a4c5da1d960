"""KL by a critic: the dual form of implicit posteriors (Fang et al. 2019) and its circle loss (clVAE, eqs. 13–19).

Shape key: N values of the critic where z is drawn from the posterior, M where it is drawn from the prior.
"""

from __future__ import annotations

from typing import Literal, TypeAlias

import torch
import torch.nn.functional as F
from torch import Tensor

CircleReduction: TypeAlias = Literal["mean", "sum", "each"]


def dual_kl(posterior_values: Tensor, prior_values: Tensor) -> Tensor:
    """E_q[f] − E_p[e^f] + 1 (clVAE, eq. 3, which omits the 1): at most KL(q ‖ p), and equal to it for f = ln q / p.

    Args:
        posterior_values: [N] f(x, z) or g(z), z from the posterior.
        prior_values: [M] the same, z from the prior.
    Returns: scalar, nats; below 0 for a critic that has learnt nothing.

    >>> dual_kl(torch.zeros(3), torch.zeros(5)).item()  # the critic that tells nothing
    0.0
    """
    return posterior_values.mean() - prior_values.exp().mean() + 1


def circle_loss(posterior_values: Tensor, prior_values: Tensor, *, reduction: CircleReduction) -> Tensor:
    """What a "+" model's critic minimises (clVAE, eqs. 13, 14, 18): f > 0 on the posterior, e^f → 0 on the prior.

        mean (eq. 13):  ln(1 + exp(−E_q[f])) + ln(1 + exp(E_p[e^f]))
        sum (eq. 18):   ln(1 + exp(−Σ_q f))  + ln(1 + exp(Σ_p e^f))
        each (code):    ln(1 + Σ_q e^{−f})   + ln(1 + Σ_p e^{e^f})

    Args:
        posterior_values, prior_values: arguments of `dual_kl`.
    Returns: scalar; it is no KL.
    """
    return circle_posterior_term(posterior_values, reduction=reduction) + _log_one_plus(prior_values.exp(), reduction)


def circle_posterior_term(posterior_values: Tensor, *, reduction: CircleReduction) -> Tensor:
    """The part of the circle loss that z from the posterior has: what eq. 19 gives to the encoder.

    Its gradient pushes f up, away from the prior; that of KL, and of the authors' code, pushes it down.
    """
    return _log_one_plus(-posterior_values, reduction)


def _log_one_plus(values: Tensor, reduction: CircleReduction) -> Tensor:
    if reduction == "each":
        return torch.cat([values.new_zeros(1), values]).logsumexp(0)
    return F.softplus(values.mean() if reduction == "mean" else values.sum())


def squared_differences(first: Tensor, second: Tensor) -> Tensor:
    """L_SQ = Σ_i (f(x_i, z_i) − f(x_i, z_i⁺))²: the two views of a sentence get one value (clVAE, eq. 17).

    The paper prints no square, and calls it a squared loss.

    Args:
        first, second: [B] values of the critic; row i of one belongs with row i of the other.
    """
    return (first - second).square().sum()
