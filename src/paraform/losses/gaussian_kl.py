"""KL divergences in closed form from a standard normal prior."""

from __future__ import annotations

import torch
from torch import Tensor


def gaussian_kl(mean: Tensor, log_variance: Tensor) -> Tensor:
    """KL(N(μ, diag σ²) ‖ N(0, I)) of each row (Kingma & Welling 2014, appendix B).

        KL = ½ Σ_z (μ_z² + σ_z² − ln σ_z² − 1)

    Args:
        mean, log_variance: [..., Z].
    Returns: [...] nats, at least 0.

    >>> gaussian_kl(torch.tensor([3.0]), torch.tensor([0.0])).item()  # ½ · 3²
    4.5
    """
    return 0.5 * (mean.square() + log_variance.exp() - log_variance - 1).sum(-1)


def affine_kl(mean: Tensor, noise_weight: Tensor) -> Tensor:
    """KL(N(μ, W Wᵀ) ‖ N(0, I)) of each row: what z = μ + W ε, ε ~ N(0, I), is away from the prior.

        KL = ½ (|μ|² + tr W Wᵀ − ln det W Wᵀ − Z)

    Args:
        mean: [..., Z] μ.
        noise_weight: [Z, E] W, shared by all rows.
    Returns: [...] nats, at least 0; infinite if W has not rank Z; NaN if W is not finite. Computed in float64, since a
        narrow direction of W decides, and W Wᵀ would square how narrow it is. Rank is that of the rows at length 1, as
        far as float64 tells (1e-16): what float32's rounding alone (1e-7) keeps from being flat is narrow, and z is
        drawn just so.
    """
    weight = noise_weight.double()
    if not bool(weight.isfinite().all()):
        return torch.full_like(mean[..., 0], float("nan"))
    lengths_Z1 = weight.detach().norm(dim=1, keepdim=True).clamp_min(torch.finfo(torch.float64).tiny)
    if int(torch.linalg.matrix_rank(weight.detach() / lengths_Z1)) < len(weight):
        return torch.full_like(mean[..., 0], float("inf"))
    factor_ZZ = torch.linalg.qr(weight.T).R  # Wᵀ = Q R, so that W Wᵀ = Rᵀ R
    spread = weight.square().sum() - 2 * factor_ZZ.diagonal().abs().log().sum() - len(weight)
    kl: Tensor = 0.5 * (mean.square().sum(-1) + spread.to(mean.dtype))
    return kl
