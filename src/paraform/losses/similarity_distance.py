"""How far the similarities of a batch have moved from those of another encoder."""

from __future__ import annotations

import torch.nn.functional as F
from torch import Tensor


def similarity_distance(vectors: Tensor, start: Tensor) -> Tensor:
    """Mean squared difference of all cosines between two encoders' vectors of the same texts.

        L = (1 / B(B − 1)) Σ_{i ≠ j} (cos(u_i, u_j) − cos(v_i, v_j))²

    Nothing depends on the coordinates: a rotation of either changes no term (as in relational knowledge distillation,
    Park et al. 2019, with cosines for distances).

    Args:
        vectors: [B, D] u, of the encoder that learns.
        start: [B, E] v, of the encoder that it started from; no gradient reaches it.
    Returns: scalar, 0 to 4.
    Raises: ValueError if they are not of the same B ≥ 2 texts.
    """
    if vectors.ndim != 2 or start.ndim != 2 or len(vectors) != len(start) or len(vectors) < 2:
        raise ValueError(f"vectors {tuple(vectors.shape)}, start {tuple(start.shape)}; expected [B ≥ 2, D] and [B, E]")
    now_BD, before_BE = F.normalize(vectors, dim=-1), F.normalize(start.detach(), dim=-1)
    apart_BB = (now_BD @ now_BD.T - before_BE @ before_BE.T).square()
    rows = len(vectors)
    return (apart_BB.sum() - apart_BB.diagonal().sum()) / (rows * (rows - 1))
