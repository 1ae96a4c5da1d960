"""What one needs no training for: the space in which a word's vectors scatter alike within paraphrases.

Shape key: W shared words, D features.
"""

from __future__ import annotations

import torch
from torch import Tensor

SHRINKAGE = 0.1  # share of a scatter that is taken to be the same in all directions (Ledoit and Wolf 2004)


def within_word_whitening(scatter_DD: Tensor, *, shrinkage: float = SHRINKAGE) -> Tensor:
    """A symmetric M after which differences of a word between paraphrases are as large in every direction.

        S = (1 − α) Σ + α (tr Σ / D) I,   M = √(tr Σ / tr(S⁻¹ Σ)) S^{−1/2}

    Σ = E[(u − v)(u − v)ᵀ], u and v a word in two contexts that say the same (the within-class scatter of Fisher's
    discriminant, with words for classes). The factor leaves the mean squared distance in paraphrases as it was, so what
    is gained shows in the distances of other contexts alone.

    Args:
        scatter_DD: Σ, [D, D].
        shrinkage: α, 0 to 1; 0 needs more shared words than features.
    Returns: M, [D, D] float32.
    Raises: ValueError if Σ is 0, or has directions without any scatter and α is 0.
    """
    scatter_DD = scatter_DD.double()
    mean = float(scatter_DD.trace()) / len(scatter_DD)
    if mean <= 0:
        raise ValueError(
            "a scatter of 0: words have one vector in all contexts; expected an encoder that reads contexts"
        )
    identity_DD = torch.eye(len(scatter_DD), dtype=torch.float64, device=scatter_DD.device)
    values_D, axes_DD = torch.linalg.eigh((1 - shrinkage) * scatter_DD + shrinkage * mean * identity_DD)
    if values_D[0] <= 1e-9 * values_D[-1]:
        raise ValueError("a scatter without some directions; expected shrinkage above 0, or more pairs")
    matrix_DD = (axes_DD * values_D.rsqrt()) @ axes_DD.T
    after = float(torch.einsum("ij,jk,ik->", matrix_DD, scatter_DD, matrix_DD))
    scaled_DD: Tensor = matrix_DD * (mean * len(scatter_DD) / after) ** 0.5
    return scaled_DD.float()
