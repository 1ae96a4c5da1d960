"""The vectors that are nearest to a question's, of all: exact, by a matrix product, and in the same order every time.

A product's sums differ a little with its shape, and more where torch rounds factors to bfloat16, as it does on some
processors while another thread encodes. So it only says which vectors may be among the nearest, with room for both; of
these the cosines are computed again, each in the same way.

Shape key: N vectors, Q questions, D features, G groups of W vectors, M maxima, P places that may be among the nearest.
"""

from __future__ import annotations

import itertools
from typing import NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

BLOCK = 2**24  # cosines held at once: 64 MiB
GROUPS, ROOM = 64, 8  # the nearest are looked for among maxima of so many; of them so many times as are wanted
CHECKED = 2**23  # numbers of vectors whose cosines are computed again at once, three times: 96 MiB
SLACK = 0.008
"""Two roundings' worth: for unit vectors u = a + e, where a is u in bfloat16, ‖e‖ ≤ 2⁻⁹, |u·v − a·b| ≤ 2⁻⁸ + 2⁻¹⁸."""


class Nearest(NamedTuple):
    """Rows near one question, nearest first; of equal cosines the lower row: [K] int64 and [K] float32."""

    rows: NDArray[np.int64]
    cosines: NDArray[np.float32]


def nearest(
    vectors_ND: Tensor, questions_QD: NDArray[np.float32], num: int, least: float, without: NDArray[np.int64]
) -> list[Nearest]:
    """Of each question the `num` rows with the highest cosine, fewer where fewer have `least` or more.

    Args:
        vectors_ND, questions_QD: of length 1; products are computed on the device of the first.
        num: 1 or more.
        without: numbers of rows that are near to nothing.
    """
    found: list[Nearest] = []
    size = max(1, BLOCK // max(1, len(vectors_ND)))
    for start in range(0, len(questions_QD), size):
        part_QD = questions_QD[start : start + size]
        cosines_QN = (torch.from_numpy(part_QD).to(vectors_ND.device) @ vectors_ND.T).cpu()
        if len(without):
            cosines_QN[:, torch.from_numpy(without)] = -torch.inf
        question_P, rows_P = _near_places(cosines_QN, num, least)
        cosines_P = _cosines(vectors_ND, part_QD, question_P, rows_P)
        order = np.lexsort((rows_P, -cosines_P, question_P))
        order = order[cosines_P[order] >= least]
        ends_Q = np.searchsorted(question_P[order], np.arange(len(part_QD) + 1)).tolist()
        chosen = (order[begin : min(end, begin + num)] for begin, end in itertools.pairwise(ends_Q))
        found += [Nearest(rows_P[some], cosines_P[some]) for some in chosen]
    return found


def _near_places(cosines_QN: Tensor, num: int, least: float) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Questions and rows, each [P], among which are all of the nearest.

    Rows are put into groups. The `num` highest of the groups' maxima are cosines of as many rows, so that none of the
    nearest is lower than the last of these; and a group whose maximum is lower has none.

    In NumPy: a product has driven all else out of the caches, where each of torch's small steps takes twice as long.
    """
    count = cosines_QN.shape[1]
    groups = max(1, min(GROUPS, count // (ROOM * num)))
    width = count // groups
    grouped_QGW = cosines_QN[:, : groups * width].view(-1, groups, width).numpy()
    cosines = cosines_QN.numpy()
    # Row i is in group i mod W; those that are left over, at most G − 1, stand behind, each for itself.
    maxima_QM = np.concatenate([grouped_QGW.max(1), cosines[:, groups * width :]], axis=1)
    last = max(0, maxima_QM.shape[1] - num)
    highest_Q1 = np.partition(maxima_QM, last, axis=1)[:, last : last + 1]
    lowest_Q1 = np.maximum(highest_Q1, np.float32(least)) - np.float32(SLACK)
    question_M, place_M = (maxima_QM >= lowest_Q1).nonzero()
    rows_MG = place_M[:, None] + width * np.arange(groups)
    reached_MG = cosines[question_M[:, None], rows_MG] >= lowest_Q1[question_M]
    reached_MG[place_M >= width, :-1] = False
    found_P, group_P = reached_MG.nonzero()
    return question_M[found_P], rows_MG[found_P, group_P]


def _cosines(
    vectors_ND: Tensor, questions_QD: NDArray[np.float32], question_P: NDArray[np.int64], rows_P: NDArray[np.int64]
) -> NDArray[np.float32]:
    """Of each pair, the same whatever stands beside it."""
    cosines_P = np.empty(len(rows_P), np.float32)
    size = max(1, CHECKED // vectors_ND.shape[1])
    for start in range(0, len(rows_P), size):
        part = slice(start, start + size)
        near_PD = vectors_ND[torch.from_numpy(rows_P[part]).to(vectors_ND.device)].cpu().numpy()
        cosines_P[part] = np.einsum("pd,pd->p", near_PD, questions_QD[question_P[part]])
    return cosines_P
