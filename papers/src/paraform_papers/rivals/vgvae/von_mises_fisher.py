"""The von Mises–Fisher distribution on the unit sphere: KL from the uniform one, densities, and where its samples move.

All are of ψ(κ) = ln E[exp(κ t)], t = μ·y of a y that is uniform on the sphere in M dimensions: the density of
vMF(μ, κ) by the uniform one is exp(κ μ·y − ψ(κ)), and E[y] = ψ'(κ) μ.

Shape key: N rows, K terms of a series, Q nodes of a quadrature.
"""

from __future__ import annotations

import math

import numpy as np
import torch
from torch import Tensor

MOST_CONCENTRATION = 1e4
"""The largest κ that these functions are exact for: so many terms of a series are summed."""

NODES = 64
REACH = 20.0  # deviations; what is beyond them of a tail is e^−20 of it, or less


def log_mgf(concentration: Tensor, width: int) -> Tensor:
    """ψ(κ) = ln 0F1(M/2; κ²/4) = ln Γ(M/2) − (M/2 − 1) ln (κ/2) + ln I_{M/2−1}(κ).

    Args:
        concentration: κ, any shape, 0 to 1e4.
        width: M ≥ 2, dimensions of the space that the sphere is in.
    Returns: of that shape, float64; NaN where κ is.
    Raises: ValueError for a κ above 1e4, as `mean_length` and `vmf_kl` do.
    """
    return _terms(concentration, width).logsumexp(-1)


def mean_length(concentration: Tensor, width: int) -> Tensor:
    """A(κ) = ψ'(κ) = I_{M/2}(κ) / I_{M/2−1}(κ): the length of the mean E[y], 0 to 1 (Banerjee et al. 2005, eq. 2.8).

    >>> round(mean_length(torch.tensor(2.0), 3).item(), 6)  # coth 2 − 1/2
    0.537315
    """
    return _and_slope(concentration, width)[1]


def vmf_kl(concentration: Tensor, width: int) -> Tensor:
    """KL(vMF(μ, κ) ‖ uniform) = κ A(κ) − ψ(κ) of each row (Davidson et al. 2018, section 3.2; μ plays no part).

    Args:
        concentration: κ, any shape, 0 to 1e4.
        width: M.
    Returns: of that shape, nats, at least 0, in its dtype.
    """
    log_mgf_N, slope_N = _and_slope(concentration, width)
    return (concentration.double() * slope_N - log_mgf_N).to(concentration.dtype)


def log_uniform(width: int) -> float:
    """ln of the uniform density on the sphere, by its surface: ln Γ(M/2) − ln 2 − (M/2) ln π."""
    return math.lgamma(width / 2) - math.log(2) - width / 2 * math.log(math.pi)


@torch.no_grad()
def implicit_slope(along: Tensor, concentration: Tensor, width: int) -> Tensor:
    """∂t/∂κ of a sample's t = μ·y, its place among the samples held: −(∂F/∂κ) / p(t), F the distribution function.

    It is the exact gradient of a sample that rejection has given (Figurnov et al. 2018, eq. 6): differentiating the
    accepted proposal alone leaves out that acceptance depends on κ (Naesseth et al. 2017). With
    u(t) = e^{κt} (1 − t²)^{(M−3)/2} it is ∫_t^1 (s − A) u(s) ds / u(t), which is that of −(s − A) below t, too: of
    the two the one in whose part s − A has one sign, so that nothing cancels. By Gauss and Legendre's rule.

    Args:
        along: [N] t, −1 < t < 1.
        concentration: [N] κ > 0.
        width: M ≥ 3.
    Returns: [N] float64, at least 0.
    """
    t_N, kappa_N = along.double(), concentration.double()
    slope_N = mean_length(kappa_N, width)
    variance_N = (1 - slope_N.square() - (width - 1) * slope_N / kappa_N.clamp_min(1e-9)).clamp_min(1e-12)
    above_N = t_N >= slope_N
    room_N = torch.where(above_N, 1 - t_N, -1 - t_N)
    reach_N = room_N.sign() * torch.minimum(room_N.abs(), REACH * variance_N.sqrt())
    nodes, weights = np.polynomial.legendre.leggauss(NODES)
    share_Q, weight_Q = (torch.as_tensor(some / 2, device=t_N.device) for some in (nodes + 1, weights))
    s_NQ = t_N[:, None] + reach_N[:, None] * share_Q
    power = (width - 3) / 2
    ratio_NQ = torch.log1p(-s_NQ.square().clamp_max(1)) - torch.log1p(-t_N.square())[:, None]
    density_NQ = (kappa_N[:, None] * (s_NQ - t_N[:, None]) + (power * ratio_NQ if power else 0)).exp()
    # below t the interval is walked backwards, and s − A is negative there
    return reach_N * (weight_Q * (s_NQ - slope_N[:, None]) * density_NQ).sum(1)


def _terms(concentration: Tensor, width: int) -> Tensor:
    """ln of the terms of 0F1(M/2; κ²/4), which are all positive: [..., K]."""
    kappa = concentration.double().clamp_min(1e-30)[..., None]
    most = float(kappa.detach().nan_to_num(0.0, posinf=torch.inf).max()) if kappa.numel() else 0.0
    if most > MOST_CONCENTRATION:  # as many terms as memory has no room for
        raise ValueError(f"concentration {most:g}; expected 0 to {MOST_CONCENTRATION:g}")
    # the largest term is before κ/2, and the terms fall off as a Gaussian of √κ or so does
    k_K = torch.arange(math.ceil(most / 2 + 12 * math.sqrt(most + 1)) + 30, device=kappa.device, dtype=torch.float64)
    half = torch.tensor(width / 2, device=kappa.device, dtype=torch.float64)
    return 2 * k_K * (kappa / 2).log() - torch.lgamma(k_K + 1) - torch.lgamma(half + k_K) + torch.lgamma(half)


def _and_slope(concentration: Tensor, width: int) -> tuple[Tensor, Tensor]:
    """ψ(κ) and ψ'(κ): the mean of 2k/κ by the shares of the terms."""
    terms = _terms(concentration, width)
    k_K = torch.arange(terms.shape[-1], device=terms.device, dtype=torch.float64)
    slope = (terms.softmax(-1) * 2 * k_K).sum(-1) / concentration.double().clamp_min(1e-30)
    return terms.logsumexp(-1), slope
