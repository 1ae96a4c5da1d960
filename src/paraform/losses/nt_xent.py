"""NT-Xent over both views of a batch (CRL-EGPG, eqs. 6–11; Chen et al. 2020)."""

from __future__ import annotations

from typing import Literal

import torch
import torch.nn.functional as F
from torch import Tensor


def nt_xent(
    first: Tensor,
    second: Tensor,
    *,
    temperature: float,
    similarity: Literal["dot", "cosine"] = "cosine",
    reduction: Literal["mean", "sum"] = "mean",
    clusters: Tensor | None = None,
    negatives: Tensor | None = None,
    negative_clusters: Tensor | None = None,
) -> Tensor:
    """−log softmax of each row's partner among the 2B − 1 other rows of both views (CRL-EGPG, eqs. 6–8 and 9–11).

        ℓ(i) = −log exp(f_i · f_p(i) / τ) / Σ_{k ≠ i} exp(f_i · f_k / τ),   f = [first; second]

    Each of the 2B anchors has its partner and 2B − 2 negatives.

    Args:
        first, second: [B, D]; row i of one belongs with row i of the other.
        temperature: τ > 0; divides the similarity.
        similarity: "dot" (the paper) or "cosine" (the authors' code).
        reduction: "sum" over the 2B anchors (eqs. 8, 11) or their "mean".
        clusters: [B] numbers; rows of one cluster say the same, so they are no negatives of each other. None: all are.
        negatives: [N, D] further negatives of every anchor, which are no anchors themselves. None: there are none.
        negative_clusters: [N] their clusters, if the rows have some.
    Returns: scalar, in nats (summed) or nats per anchor (mean).
    Raises: ValueError if the shapes differ, B < 2 (nothing to contrast) or the temperature is not positive.

    >>> ones = torch.ones(4, 8)
    >>> round(nt_xent(ones, ones, temperature=0.5).item(), 4)  # ln(2·4 − 1): all look alike
    1.9459
    """
    if first.shape != second.shape or first.ndim != 2 or first.shape[0] < 2:
        raise ValueError(f"views of shape {tuple(first.shape)} and {tuple(second.shape)}; expected twice [B ≥ 2, D]")
    if negatives is not None and (
        negatives.shape[1:] != first.shape[1:] or (clusters is None) != (negative_clusters is None)
    ):
        raise ValueError(f"negatives {tuple(negatives.shape)}; expected [N, D], with clusters if the rows have some")
    if temperature <= 0:
        raise ValueError(f"temperature {temperature}; expected a number above 0")
    batch = first.shape[0]
    views_ND = torch.cat([first, second])
    if similarity == "cosine":
        views_ND = F.normalize(views_ND, dim=-1)
    similar_NN = views_ND @ views_ND.T / temperature
    rows = torch.arange(2 * batch, device=first.device)
    partner_N = rows.roll(batch)
    left_out_NN = torch.eye(2 * batch, dtype=torch.bool, device=first.device)
    if clusters is not None:
        cluster_N = clusters.repeat(2)
        left_out_NN = cluster_N[:, None] == cluster_N[None, :]
        left_out_NN[rows, partner_N] = False
    scores_NK = similar_NN.masked_fill(left_out_NN, float("-inf"))
    if negatives is not None:
        more_KD = F.normalize(negatives, dim=-1) if similarity == "cosine" else negatives
        more_NK = views_ND @ more_KD.T / temperature
        if clusters is not None and negative_clusters is not None:
            same_NK = clusters.repeat(2)[:, None] == negative_clusters[None, :]
            more_NK = more_NK.masked_fill(same_NK, float("-inf"))
        scores_NK = torch.cat([scores_NK, more_NK], 1)
    return F.cross_entropy(scores_NK, partner_N, reduction=reduction)
