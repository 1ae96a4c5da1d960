"""−ln p of gold words under a softmax over a whole vocabulary, a part of the scores at a time.

Shape key: N words, V vocabulary, C = V filled up to whole cache lines, D features, P words of a part.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor
from torch.autograd.function import once_differentiable

CELLS = 1 << 22  # scores held at once, in one buffer: memory new from the system comes more slowly than they do
LINE = 64  # columns that rows of scores are filled up to a multiple of: products write them up to 1.5 times as fast


def vocabulary_nll(features: Tensor, weight: Tensor, gold: Tensor) -> Tensor:
    """−ln p(y) of gold words under a softmax without bias: p = softmax(W h).

    The probabilities [N, V] of the forward pass are kept for the backward one, which is then two products and no pass
    over [N, V] (that of a sum is Pᵀ (d ∘ H), so that the rows' weights d never multiply P). It goes backwards once.

    Args:
        features: [N, D] h.
        weight: [V, D] W, of the same dtype or float32.
        gold: [N] int64, 0 to V − 1.
    Returns: [N] nats, float32 at least, with gradients to features and weight.
    """
    run: Callable[..., Tensor] = _NLL.apply
    return run(features, weight, gold, torch.is_grad_enabled())


_spare: list[Tensor] = []  # a buffer of probabilities that no step needs; memory new from the system is slow


class _NLL(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, features_ND: Tensor, weight_VD: Tensor, gold_N: Tensor, kept: bool) -> Tensor:
        # The words that it is filled up with have no probability.
        rows, words, columns = len(features_ND), len(weight_VD), filled_up(len(weight_VD))
        weight_CD = _filled(weight_VD, features_ND)
        probs_NC = _buffer(rows, columns, features_ND) if kept else None
        nll_N = features_ND.new_empty(rows, dtype=_wide(features_ND))
        tiny = torch.finfo(features_ND.dtype).tiny
        scores_PC = _one_part(features_ND, words)
        for at in _parts(rows, words):
            scores = torch.mm(features_ND[at], weight_CD.t(), out=scores_PC[: at.stop - at.start])
            scores[:, words:] = -torch.inf
            part = torch.softmax(scores, -1, out=scores if probs_NC is None else probs_NC[at])
            gold_P = part.gather(1, gold_N[at, None]).squeeze(1)
            nll_N[at] = -gold_P.to(nll_N.dtype).log()
            lost = (gold_P < tiny).nonzero().squeeze(1) + at.start  # too unlikely for a probability of this dtype
            if len(lost):
                scores = features_ND[lost].to(nll_N.dtype) @ weight_CD[:words].t().to(nll_N.dtype)
                nll_N[lost] = F.cross_entropy(scores, gold_N[lost], reduction="none")
        if kept:
            ctx.save_for_backward(features_ND, weight_CD, gold_N)
            ctx.words, ctx.probs_NC = words, probs_NC
        return nll_N

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, d_nll_N: Tensor) -> tuple[Tensor | None, ...]:
        features_ND, weight_CD, gold_N = ctx.saved_tensors
        probs_NC, ctx.probs_NC = ctx.probs_NC, None
        if probs_NC is None:
            raise RuntimeError("vocabulary_nll goes backwards once; its probabilities are another step's by now")
        wide = _wide(features_ND)
        # ∂ nll / ∂ l_v = p(v) − [v = y]
        d_features_ND = ((probs_NC @ weight_CD).to(wide) - weight_CD[gold_N]) * d_nll_N[:, None]
        d_weight_VD = None
        if ctx.needs_input_grad[1]:
            weighted_ND = features_ND.to(wide) * d_nll_N[:, None]
            d_weight_VD = (probs_NC.t() @ weighted_ND.to(features_ND.dtype))[: ctx.words].to(wide)
            d_weight_VD.index_add_(0, gold_N, weighted_ND, alpha=-1)
        _spare[:] = [probs_NC]
        return d_features_ND.to(features_ND.dtype), d_weight_VD, None, None


def _filled(weight_VD: Tensor, features_ND: Tensor) -> Tensor:
    """[C, D], in the features' dtype: the weight itself, if it is so already."""
    weight_VD = weight_VD.to(features_ND.dtype)
    missing = filled_up(len(weight_VD)) - len(weight_VD)
    return F.pad(weight_VD, (0, 0, 0, missing)) if missing else weight_VD


def _parts(rows: int, columns: int) -> Iterator[slice]:
    size = _size(columns)
    return (slice(start, min(start + size, rows)) for start in range(0, rows, size))


def _one_part(features_ND: Tensor, columns: int) -> Tensor:
    """[P, C], not set: the scores of the rows of one part."""
    return features_ND.new_empty(min(len(features_ND), _size(columns)), filled_up(columns))


def filled_up(columns: int) -> int:
    """The next multiple of `LINE`."""
    return -(-columns // LINE) * LINE


def _size(columns: int) -> int:
    """Rows of a part: a multiple of 64 if it can be, which oneDNN multiplies faster than an odd number."""
    size = max(1, CELLS // columns)
    return size if size < 64 else size // 64 * 64


def _wide(tensor: Tensor) -> torch.dtype:
    """float32, or what is wider."""
    return torch.promote_types(tensor.dtype, torch.float32)


def _buffer(rows: int, columns: int, like: Tensor) -> Tensor:
    """[N, C], not set; the spare one if it is large enough."""
    spare = _spare.pop() if _spare else like.new_empty(0)
    whole = spare.untyped_storage().nbytes() // like.element_size()
    if spare.dtype != like.dtype or spare.device != like.device or whole < rows * columns:
        return like.new_empty(rows, columns)
    return spare.as_strided((rows, columns), (columns, 1), 0)
