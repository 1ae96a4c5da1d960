"""How far a matrix is from an orthogonal one."""

from __future__ import annotations

import torch
from torch import Tensor


def orthogonality_penalty(matrix: Tensor) -> Tensor:
    """‖I − MᵀM‖_F (PAR, Shi et al. 2019, section 3.2, L_O).

    Its gradient at an orthogonal M, where it has none, is 0.

    Args:
        matrix: [K, K] M, or [L, K, K], several of them.
    Returns: scalar, of several their sum; 0 if M is orthogonal.
    Raises: ValueError if M is not square.

    >>> orthogonality_penalty(2 * torch.eye(4)).item()  # 3 √4
    6.0
    """
    if matrix.ndim not in (2, 3) or matrix.shape[-2] != matrix.shape[-1]:
        raise ValueError(f"a matrix of {tuple(matrix.shape)}; expected a square one")
    identity_KK = torch.eye(matrix.shape[-1], dtype=matrix.dtype, device=matrix.device)
    penalty: Tensor = torch.linalg.matrix_norm(identity_KK - matrix.mT @ matrix).sum()
    return penalty
