"""The rows that many probes share, and what each makes of them: its standardised coordinates, without a copy.

Shape key: N rows, D features, F folds, K fits, C classes, B rows at once.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

BLOCK = 1 << 23
"""Numbers of a product held at once, 32 MiB; bounds the memory, not the result."""
NOTHING = 1e-6
"""A standard deviation below this share of the largest coordinate is the rounding of float32: no variance."""


@dataclass(frozen=True, eq=False, slots=True)
class ProbeRows:
    """Vectors that stand in memory once; fold f sees (vectors − shift_f) · scale_f.

    A fit's weights are folded into the shared coordinates instead: W (x − shift) scale + b = (W scale) x + b', so that
    all fits' weights side by side are one matrix product with the same rows.

    Args:
        vectors_ND: [N, D] float32, standardised over all training rows if folds are.
        shift_FD, scale_FD: what a fold's own training rows differ by, [F, D]; None: it sees the vectors as they are.
    """

    vectors_ND: Tensor
    shift_FD: Tensor | None
    scale_FD: Tensor | None

    def folded(self, weights_KHD: Tensor, bias_KH: Tensor, fold_K: Tensor) -> tuple[Tensor, Tensor]:
        """Weights and biases of the shared coordinates, of those of the fits' own."""
        if self.shift_FD is None or self.scale_FD is None:
            return weights_KHD, bias_KH
        shared_KHD = weights_KHD * self.scale_FD[fold_K, None]
        return shared_KHD, bias_KH - (shared_KHD @ self.shift_FD[fold_K, :, None]).squeeze(-1)

    def seen(self, rows_B: Tensor, fold_K: Tensor) -> Tensor:
        """Some rows as the fits see them: [B, D] if all see the same, else [K, B, D]."""
        vectors_BD = self.vectors_ND[rows_B]
        if self.shift_FD is None or self.scale_FD is None:
            return vectors_BD
        return ((vectors_BD - self.shift_FD[:, None]) * self.scale_FD[:, None])[fold_K]

    def blocks(self, width: int) -> list[slice]:
        """Parts of the rows, of which a product of that many columns is `BLOCK` numbers at most."""
        size = max(1, BLOCK // width)
        return [slice(start, start + size) for start in range(0, len(self.vectors_ND), size)]


def pair_features(lefts_ND: NDArray[np.float32], rights_ND: NDArray[np.float32]) -> NDArray[np.float32]:
    """What a probe sees of two vectors u and v: |u − v| and u ∗ v, [N, 2 D]."""
    features: NDArray[np.float32] = np.concatenate([np.abs(lefts_ND - rights_ND), lefts_ND * rights_ND], axis=1)
    return features


def standardised_rows(vectors_ND: Tensor, train_FN: Tensor, standardise: bool) -> ProbeRows:
    """The rows of folds with these training rows, [F, N]; without `standardise` the vectors as they come.

    A coordinate that is constant over a fold's training rows has scale 0.
    """
    if not standardise:
        return ProbeRows(vectors_ND, None, None)
    used_N = train_FN.any(0)[None]
    mean_D = _mean(vectors_ND, used_N)[0]
    spread_D = _mean(vectors_ND, used_N, mean_D)[0].sqrt()
    # Rows outside all training rows may hold anything; a coordinate that is constant in training is 0 there, too.
    spread_D[spread_D <= NOTHING * vectors_ND[used_N[0]].abs().amax(0)] = torch.inf
    shared_ND = torch.empty_like(vectors_ND)
    for part in ProbeRows(vectors_ND, None, None).blocks(len(mean_D)):
        shared_ND[part] = (vectors_ND[part] - mean_D) / spread_D
    shift_FD = _mean(shared_ND, train_FN)
    variance_FD = _mean(shared_ND, train_FN, torch.zeros(())) - shift_FD.square()
    scale_FD = variance_FD.clamp(min=0).sqrt().reciprocal()
    scale_FD[variance_FD <= NOTHING] = 0
    return ProbeRows(shared_ND, shift_FD.float(), scale_FD.float())


def _mean(values_ND: Tensor, mask_FN: Tensor, centre_D: Tensor | None = None) -> Tensor:
    """The mean over each mask's rows, or the mean square about a centre, [F, D], in parts of the rows.

    In float64: what an encoder leaves of a coordinate may be so small that its square is nothing in float32.
    """
    sums_FD = torch.zeros(len(mask_FN), values_ND.shape[1], dtype=torch.float64)
    for part in ProbeRows(values_ND, None, None).blocks(values_ND.shape[1]):
        values_BD = values_ND[part].double()
        values_BD = values_BD if centre_D is None else (values_BD - centre_D).square()
        sums_FD += mask_FN[:, part].double() @ values_BD
    return sums_FD / mask_FN.sum(1, keepdim=True)
