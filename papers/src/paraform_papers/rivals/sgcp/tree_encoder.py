"""SGCP's tree encoder: from the root down, all trees of a batch level by level.

Shape key: B trees, M nodes of all trees, K nodes of a level, L leaves of the longest queue, E features of a label, D of
a state.
"""

from __future__ import annotations

from typing import final

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from paraform_papers.rivals.sgcp.forms import Forms


@final
class TreeEncoder(nn.Module):
    """h_v = GELU(W [h_parent; e(v)] + b); above a root there is 0.

    Args:
        inputs: E.
        width: D.
    """

    def __init__(self, inputs: int, width: int) -> None:
        super().__init__()
        self.width = width
        self.down = nn.Linear(width + inputs, width)

    def forward(self, labels_ME: Tensor, forms: Forms) -> Tensor:
        """The states of each tree's leaves, [B, L, D]; behind a queue's last whatever.

        Args:
            labels_ME: e of `forms.labels_M`.
        """
        above_KD = labels_ME.new_zeros(forms.levels[0], self.width)
        sizes, states = list(forms.levels), []
        for level, (labels_KE, parents_K) in enumerate(
            zip(torch.split(labels_ME, sizes), torch.split(forms.parents_M, sizes), strict=True)
        ):
            above_KD = above_KD[parents_K] if level else above_KD
            above_KD = F.gelu(self.down(torch.cat([above_KD, labels_KE], -1)))
            states.append(above_KD)
        return torch.cat(states)[forms.queue_BL]
