"""Draws that depend on the seed and the text alone: the same text is answered alike in any batch, order or shard.

Shape key: N rows that go on, T steps, V pieces of the vocabulary, K the likeliest of them.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from typing import final

import numpy as np
import torch
from torch import Tensor

from paraform.records import InputError

NUCLEUS = 256  # pieces that are drawn from, at most


def uniforms(texts: Sequence[str], numbers: Sequence[int], steps: int, seed: int) -> Tensor:
    """Numbers in [0, 1) of each row and step, float64 [N, T].

    Args:
        texts: what each row says in other words.
        numbers: which of its text's answers each row is.
    """
    rows = []
    for text, number in zip(texts, numbers, strict=True):
        key = hashlib.sha256(f"{seed} {number} {text}".encode("utf-8", "surrogatepass")).digest()
        rows.append(np.random.Generator(np.random.Philox(int.from_bytes(key[:16], "big"))).random(steps))
    return torch.from_numpy(np.stack(rows)) if rows else torch.zeros(0, steps, dtype=torch.float64)


@final
class Nucleus:
    """Chooses by given numbers from the smallest set that holds `top_p` of the probability (Holtzman et al. 2020).

    Args:
        uniforms_BT: as `uniforms` makes them.
        temperature: divides the log-probabilities.
        top_p: of the probability that the `NUCLEUS` likeliest pieces have, which is nearly all.
    Raises: InputError if top_p is out of range; when it chooses, if scores are not finite.
    """

    def __init__(self, uniforms_BT: Tensor, *, temperature: float, top_p: float) -> None:
        if not 0 < top_p <= 1:
            raise InputError(f"top_p {top_p}; expected above 0, and at most 1")
        self._uniforms_BT, self._temperature, self._top_p = uniforms_BT, temperature, top_p

    def __call__(self, scores_NV: Tensor, rows_N: Tensor, time: int) -> Tensor:
        """A piece for each row: [N]."""
        scores_NK, pieces_NK = scores_NV.topk(min(NUCLEUS, scores_NV.shape[1]), -1)
        if not bool(torch.isfinite(scores_NK).all()):
            raise InputError("scores of the next piece are not finite; expected numbers: the weights may be damaged")
        shares_NK = (scores_NK.double() / self._temperature).softmax(-1)
        before_NK = shares_NK.cumsum(-1) - shares_NK
        ends_NK = shares_NK.masked_fill(before_NK >= self._top_p, 0).cumsum(-1)
        uniform_N1 = self._uniforms_BT[rows_N.cpu(), time, None].to(ends_NK.device)
        chosen_N1 = torch.searchsorted(ends_NK, uniform_N1 * ends_NK[:, -1:], right=True)
        return pieces_NK.gather(1, chosen_N1.clamp_max(pieces_NK.shape[1] - 1))[:, 0]
