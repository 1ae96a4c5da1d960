"""Contrast between two views of a batch: each first view has its own second view, and the others as negatives."""

from __future__ import annotations

from typing import Literal

import torch
import torch.nn.functional as F
from torch import Tensor


def latent_contrast(
    first: Tensor,
    second: Tensor,
    *,
    temperature: float,
    negatives_view: Literal["first", "second"] = "first",
    extra_negatives: Tensor | None = None,
) -> Tensor:
    """−log softmax of each first view's own second view (clVAE, eqs. 8–10, of which it is the negative).

        L = −1/N Σ_i log e^{cos(z_i, z_i⁺)/τ} / Σ_{z ∈ {z_i⁺} ∪ negatives} e^{cos(z_i, z)/τ}

    Args:
        first, second: [N, D]; row i of one belongs with row i of the other.
        temperature: τ > 0; divides the cosine.
        negatives_view: negatives of z_i are the other first views z_j (paper) or the other second views z_j⁺ (code).
        extra_negatives: [M, D] more negatives of every anchor.
    Returns: scalar, nats per anchor, at least 0; 0 if there is no negative.
    Raises: ValueError if the shapes differ or the temperature is not positive.

    >>> ones = torch.ones(4, 8)
    >>> round(latent_contrast(ones, ones, temperature=0.5).item(), 4)  # ln 4: the own one looks like the three others
    1.3863
    """
    if first.shape != second.shape or first.ndim != 2:
        raise ValueError(f"views of shape {tuple(first.shape)} and {tuple(second.shape)}; expected twice [N, D]")
    if temperature <= 0:
        raise ValueError(f"temperature {temperature}; expected a number above 0")
    first_ND, second_ND = F.normalize(first, dim=-1), F.normalize(second, dim=-1)
    own_N = (first_ND * second_ND).sum(-1)
    other_NN = first_ND @ (first_ND if negatives_view == "first" else second_ND).T
    rows = torch.arange(len(first), device=first.device)
    similar_NN = own_N.where(rows == rows[:, None], other_NN)
    if extra_negatives is not None:
        similar_NN = torch.cat([similar_NN, first_ND @ F.normalize(extra_negatives, dim=-1).T], 1)
    return F.cross_entropy(similar_NN / temperature, rows)
