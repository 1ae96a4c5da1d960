"""Tokens' states to a vector a text, and to one a word.

Shape key: B texts, N tokens of all texts end to end, M of some, E words of several pieces, L layers, D features.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import torch
from torch import Tensor

from paraform.encoders.types import Pooling


def pooled(hidden_ND: Tensor, lengths_B: Tensor, pooling: Pooling) -> Tensor:
    """One vector a text, [B, D] float32, of its tokens' states, which lie end to end; 0 of a text without any.

    GPT-2 has no [CLS]: of an empty text it has no tokens.
    """
    states_ND = hidden_ND.float()
    if pooling in ("mean", "max"):
        reduced_BD = torch.segment_reduce(states_ND, pooling, lengths=lengths_B, axis=0)
        return torch.where(lengths_B[:, None] > 0, reduced_BD, 0.0)
    ends_B = torch.cumsum(lengths_B, 0)
    out_BD = states_ND.new_zeros(len(lengths_B), states_ND.shape[1])
    some_B = lengths_B > 0
    out_BD[some_B] = states_ND[(ends_B - lengths_B if pooling == "cls" else ends_B - 1)[some_B]]
    return out_BD


def mean_inside(hidden_ND: Tensor, lengths_B: Tensor) -> Tensor:
    """As `pooled` has the mean, of each text's states but the first and the last; of two or fewer of all: [B, D]."""
    states_ND, ends_B = hidden_ND.float(), torch.cumsum(lengths_B, 0)
    whole_BD = pooled(states_ND, lengths_B, "mean")
    some_B = lengths_B > 2
    inside_B, own_B = (lengths_B - 2)[some_B, None], lengths_B[some_B, None]
    special_BD = states_ND[(ends_B - lengths_B)[some_B]] + states_ND[ends_B[some_B] - 1]
    whole_BD[some_B] = (whole_BD[some_B] * own_B - special_BD) / inside_B
    return whole_BD


def put_means(states_NLD: Tensor, pieces_MLD: Tensor, words: Sequence[tuple[Sequence[int | None], int]]) -> None:
    """Put each word's mean over its pieces into its row.

    Args:
        words: for each sentence, in the order of the pieces, each piece's word in it, and its first word's row.
    """
    numbers = np.array([-1 if word is None else word for word_ids, _ in words for word in word_ids], np.int64)
    firsts = np.repeat([first for _, first in words], [len(word_ids) for word_ids, _ in words])
    pieces = np.flatnonzero(numbers >= 0)
    rows = (numbers + firsts)[pieces]
    first = np.flatnonzero(np.diff(rows, prepend=-1))  # the pieces of a word stand side by side
    device = pieces_MLD.device
    states_NLD[torch.from_numpy(rows[first]).to(device)] = pieces_MLD[torch.from_numpy(pieces[first]).to(device)]
    counts = np.diff(first, append=len(rows))
    if (counts > 1).any():  # few words: their sums are in float32
        several = np.repeat(counts > 1, counts)
        number = torch.from_numpy(np.repeat(np.arange((counts > 1).sum()), counts[counts > 1])).to(device)
        sums_ELD = pieces_MLD.new_zeros(int((counts > 1).sum()), *pieces_MLD.shape[1:], dtype=torch.float32)
        sums_ELD.index_add_(0, number, pieces_MLD[torch.from_numpy(pieces[several]).to(device)].float())
        sums_ELD /= torch.from_numpy(counts[counts > 1]).to(device)[:, None, None]
        states_NLD[torch.from_numpy(rows[first[counts > 1]]).to(device)] = sums_ELD.to(states_NLD.dtype)
