"""Dropout whose masks cost little on a CPU, in the place of torch's while a system trains.

Torch draws a mask there one number after another, a tenth of a step of a Transformer's. Here four numbers come from
each draw of torch's generator.

Shape key: B sentences, H heads, Q queries, K keys, D features of a head.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, final

import torch
import torch.nn.functional as F
from torch import Tensor
from torch.overrides import TorchFunctionMode

LEVELS = 1 << 16  # random numbers of 16 bits, four of which come from one draw


@final
class QuickDropout(TorchFunctionMode):
    """Inside, `F.dropout`, `nn.Dropout` and attention with dropout are those below, whoever calls them."""

    def __torch_function__(
        self,
        func: Callable[..., Any],
        types: Sequence[type],
        args: Sequence[Any] = (),
        kwargs: Mapping[str, Any] | None = None,
    ) -> Any:
        return QUICK.get(func, func)(*args, **(kwargs or {}))


def dropout(values: Tensor, p: float = 0.5, training: bool = True, inplace: bool = False) -> Tensor:
    """Zero about that share of the values, and scale the others so that the mean stays (Srivastava et al. 2014).

    Args:
        p: the share; a multiple of 1/65,536 is taken.
    """
    if not training or p in (0, 1) or values.device.type != "cpu" or inplace:
        return F.dropout(values, p, training, inplace)
    cut = min(round(p * LEVELS), LEVELS - 1)
    random = torch.empty((values.numel() + 3) // 4, dtype=torch.int64).random_(-(1 << 63), None).view(torch.int16)
    kept = (random[: values.numel()] >= cut - LEVELS // 2).to(values.dtype)
    return values * kept.mul_(LEVELS / (LEVELS - cut)).view(values.shape)


def attention(
    query_BHQD: Tensor,
    key_BHKD: Tensor,
    value_BHKD: Tensor,
    attn_mask: Tensor | None = None,
    dropout_p: float = 0.0,
    **others: Any,
) -> Tensor:
    """`F.scaled_dot_product_attention`, of whose weights that share is dropped; without dropout it is torch's."""
    if not dropout_p or others.get("is_causal") or others.get("enable_gqa") or query_BHQD.device.type != "cpu":
        return F.scaled_dot_product_attention(
            query_BHQD, key_BHKD, value_BHKD, attn_mask=attn_mask, dropout_p=dropout_p, **others
        )
    scale = others.get("scale") or query_BHQD.shape[-1] ** -0.5
    scores_BHQK = (query_BHQD * scale) @ key_BHKD.transpose(-2, -1)
    if attn_mask is not None and attn_mask.dtype == torch.bool:
        scores_BHQK = scores_BHQK.masked_fill(~attn_mask, torch.finfo(scores_BHQK.dtype).min)
    elif attn_mask is not None:
        scores_BHQK = scores_BHQK + attn_mask
    return dropout(scores_BHQK.softmax(-1), dropout_p) @ value_BHKD


QUICK: Mapping[Callable[..., Any], Callable[..., Any]] = {
    F.dropout: dropout,
    F.scaled_dot_product_attention: attention,
}
