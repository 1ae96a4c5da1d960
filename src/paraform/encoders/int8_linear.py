"""Linear layers by products of bytes: weights in int8, one scale for each output feature; inputs in uint8, one a token.

A range of its own for each token, in the place of one for the batch, as dynamic quantisation has by default, is what
keeps a vector: a few tokens have features a hundred times as large as the rest. And a text's vector does not depend on
the texts beside it.

Shape key: N tokens, K input features, E output features.
"""

from __future__ import annotations

from typing import final

import torch
from torch import Tensor

from paraform.int8 import Int8Matrix

LEAST_GELU = -0.17  # GELU's minimum, rounded down
ZERO = 16  # the byte of 0 where the least input is known
TINY = 1e-30  # stands for the range of a token whose features are all the same


@final
class Int8Linear:
    """x → W x + b for [N, K] → [N, E], float32; each number of W and of x is rounded to its nearest step.

    Args:
        weight_EK, bias_E: float32, on a CPU that `has_int8`.
        least: no input is below it, which is below 0; None: each token's bytes begin at its least.
    """

    def __init__(self, weight_EK: Tensor, bias_E: Tensor, *, least: float | None = None) -> None:
        scales_E = weight_EK.abs().amax(1).clamp_min(TINY) / 127
        bytes_EK = torch.round(weight_EK / scales_E[:, None]).to(torch.int8)
        self.weight = Int8Matrix.of(bytes_EK, scales_E)
        self.sums_E = bytes_EK.sum(1) * scales_E
        self.bias_E = bias_E
        self.zero_K = torch.full(weight_EK.shape[1:], ZERO + 0.5)
        self.most_steps = None if least is None else (ZERO - 0.5) / -least

    def __call__(self, inputs_NK: Tensor) -> Tensor:
        # Half a step is added everywhere, so that cutting off rounds.
        if self.most_steps is not None:
            steps_N1 = (255 - ZERO) / inputs_NK.amax(1, keepdim=True).clamp_min(TINY)
            steps_N1 = steps_N1.clamp_max(self.most_steps)
            bytes_NK = torch.addcmul(self.zero_K, inputs_NK, steps_N1).to(torch.uint8)
            out_NE = self.weight.product(bytes_NK, ZERO)
            return torch.addcmul(self.bias_E, out_NE, steps_N1.reciprocal(), out=out_NE)
        least_N1 = inputs_NK.amin(1, keepdim=True)
        steps_N1 = 255 / (inputs_NK.amax(1, keepdim=True) - least_N1).clamp_min(TINY)
        bytes_NK = torch.addcmul(0.5 - least_N1 * steps_N1, inputs_NK, steps_N1).to(torch.uint8)
        out_NE = self.weight.product(bytes_NK, 0)
        out_NE = torch.addcmul(self.bias_E, out_NE, steps_N1.reciprocal(), out=out_NE)
        return out_NE.addr_(least_N1[:, 0], self.sums_E)
