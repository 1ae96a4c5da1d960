"""The hardest negative of each sentence: the nearest one that says something else.

Shape key: M pairs, D features.
"""

from __future__ import annotations

import torch
import torch.nn.functional as F
from torch import Tensor

AT_ONCE = 1024  # rows that are compared together; memory grows with it


@torch.no_grad()
def hardest_negatives(anchors_MD: Tensor, others_MD: Tensor, clusters_M: Tensor) -> Tensor:
    """For each anchor the row of the other of another cluster with the highest cosine: [M] int64, −1 without any.

    Args:
        anchors_MD, others_MD: the two sides of pairs.
        clusters_M: of the pairs; those of one number say the same.
    """
    others_MD = F.normalize(others_MD, dim=-1)
    found = []
    for start in range(0, len(anchors_MD), AT_ONCE):
        part = slice(start, start + AT_ONCE)
        similar_RM = F.normalize(anchors_MD[part], dim=-1) @ others_MD.T
        similar_RM.masked_fill_(clusters_M[part, None] == clusters_M[None, :], float("-inf"))
        value_R, row_R = similar_RM.max(1)
        found.append(torch.where(value_R > float("-inf"), row_R, -1))
    return torch.cat(found)
