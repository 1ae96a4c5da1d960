"""Dropout whose masks cost little on a CPU, in the place of torch's while a system trains.

Torch draws a mask there one number after another. Here four numbers come from each draw of torch's generator.

Shape key: H heads, Q queries, K keys, D features of a head.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Mapping, Sequence
from typing import Any, final

import torch
import torch.nn.functional as F
from torch import Tensor, nn
from torch.overrides import TorchFunctionMode

LEVELS = 1 << 16  # random numbers of 16 bits, four of which come from one draw


@final
class QuickDropout(TorchFunctionMode):
    """Inside, `F.dropout` and attention with dropout are those below, whatever module calls them.

    Not inside what torch computes as one function, such as `nn.MultiheadAttention`; nor where activations are computed
    a second time in the backward pass (`torch.utils.checkpoint`), whose dropout would be another.
    """

    def __torch_function__(
        self,
        func: Callable[..., Any],
        types: Sequence[type],
        args: Sequence[Any] = (),
        kwargs: Mapping[str, Any] | None = None,
    ) -> Any:
        return QUICK.get(func, func)(*args, **(kwargs or {}))


def quick_dropout(model: nn.Module, device: torch.device) -> contextlib.AbstractContextManager[Any]:
    """A `QuickDropout` for the updates of a model on a CPU; for one that checkpoints its activations nothing."""
    twice = any(getattr(part, "gradient_checkpointing", False) for part in model.modules())
    return contextlib.nullcontext() if device.type != "cpu" or twice else QuickDropout()


def dropout(values: Tensor, p: float = 0.5, training: bool = True, inplace: bool = False) -> Tensor:
    """Zero about that share of the values, and scale the others so that the mean stays (Srivastava et al. 2014).

    Args:
        p: the share; a multiple of 1/65,536 is taken.
    """
    if not training or not 0 < p < 1 or values.device.type != "cpu" or inplace:
        return F.dropout(values, p, training, inplace)
    cut = min(round(p * LEVELS), LEVELS - 1)
    random = torch.empty((values.numel() + 3) // 4, dtype=torch.int64).random_(-(1 << 63), None).view(torch.int16)
    kept = (random[: values.numel()] >= cut - LEVELS // 2).to(values.dtype)
    return values * kept.mul_(LEVELS / (LEVELS - cut)).view(values.shape)


def attention(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    attn_mask: Tensor | None = None,
    dropout_p: float = 0.0,
    is_causal: bool = False,
    *,
    scale: float | None = None,
    enable_gqa: bool = False,
) -> Tensor:
    """`F.scaled_dot_product_attention`, of whose weights that share is dropped.

    Torch's own without dropout, elsewhere than on a CPU, with a mask of numbers, causal, or of fewer keys' heads.

    Args:
        query, key, value: [..., H, Q, D] and [..., H, K, D].
        attn_mask: bool, which keys a query reads; of one that reads none the result is 0.
    """
    numbers = attn_mask is not None and attn_mask.dtype != torch.bool
    if not 0 < dropout_p < 1 or query.device.type != "cpu" or numbers or is_causal or enable_gqa:
        return F.scaled_dot_product_attention(
            query, key, value, attn_mask, dropout_p, is_causal, scale=scale, enable_gqa=enable_gqa
        )
    scores_HQK = (query * (query.shape[-1] ** -0.5 if scale is None else scale)) @ key.transpose(-2, -1)
    if attn_mask is None:
        return dropout(scores_HQK.softmax(-1), dropout_p) @ value
    weights_HQK = scores_HQK.masked_fill(~attn_mask, torch.finfo(scores_HQK.dtype).min).softmax(-1)
    reads_Q1 = attn_mask.any(-1, keepdim=True)
    if not reads_Q1.all():
        weights_HQK = weights_HQK * reads_Q1
    return dropout(weights_HQK, dropout_p) @ value


QUICK: Mapping[Callable[..., Any], Callable[..., Any]] = {
    F.dropout: dropout,
    F.scaled_dot_product_attention: attention,
}
