"""A GRU over packed rows for training on a CPU, whose gradient takes one pass.

Torch's own cuts each step's rows out of the packed ones, so that its gradient writes as many zeros as all steps have
rows, once a step; and it multiplies the weights' gradient step by step.

Shape key: N tokens of all rows, step by step, B rows, H features, G = 3 H: reset, update, new.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import accumulate
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn
from torch.autograd.function import once_differentiable
from torch.nn.utils.rnn import PackedSequence


def run_packed(module: nn.GRU, packed: PackedSequence, initial: Tensor | None = None) -> PackedSequence:
    """The states of a GRU of one layer, in one direction or both, as `module(packed, initial)` gives them.

    It has gradients, and these have none.

    Args:
        initial: [directions, B, H], of the rows in their own order; None: zeros.
    Raises: RuntimeError as the module does, for inputs or states of another width.
    """
    module.check_input(packed.data, packed.batch_sizes)
    if initial is not None:
        module.check_forward_args(packed.data, initial, packed.batch_sizes)
    run: Callable[..., Tensor] = _GRU.apply
    sizes, out = packed.batch_sizes.tolist(), []
    for direction, (w_ih, w_hh, b_ih, b_hh) in enumerate(module.all_weights):
        if initial is None:
            first_BH = packed.data.new_zeros(sizes[0], module.hidden_size)
        else:
            first_BH = initial[direction]
            if packed.sorted_indices is not None:
                first_BH = first_BH[packed.sorted_indices]
        out.append(run(F.linear(packed.data, w_ih, b_ih), first_BH, w_hh, b_hh, sizes, direction == 1))
    return packed._replace(data=torch.cat(out, -1) if len(out) > 1 else out[0])


class _GRU(torch.autograd.Function):
    """h = (1 − z) n + z h₋, r and z = σ(gates + W h₋ + b), n = tanh(gates + r (W h₋ + b)); gates hold the input's."""

    @staticmethod
    def forward(
        ctx: Any, gates_NG: Tensor, initial_BH: Tensor, w_hh: Tensor, b_hh: Tensor, sizes: Sequence[int], back: bool
    ) -> Tensor:
        tokens, width = len(gates_NG), w_hh.shape[1]
        ends = list(accumulate(sizes))
        steps = [(slice(end - size, end), size) for end, size in zip(ends, sizes, strict=True)]
        steps = steps[::-1] if back else steps
        before_NH, hidden_NH, new_NH, out_NH = gates_NG.new_empty(4, tokens, width).unbind()
        gated_N2H, hidden_BG = gates_NG.new_empty(tokens, 2 * width), gates_NG.new_empty(len(initial_BH), 3 * width)
        state_BH = initial_BH.clone()
        for rows, size in steps:
            before = before_NH[rows].copy_(state_BH[:size])
            hidden = torch.addmm(b_hh, before, w_hh.t(), out=hidden_BG[:size])
            gated = torch.add(gates_NG[rows, : 2 * width], hidden[:, : 2 * width], out=gated_N2H[rows]).sigmoid_()
            reset, update = gated.chunk(2, 1)
            hidden = hidden_NH[rows].copy_(hidden[:, 2 * width :])
            new = torch.addcmul(gates_NG[rows, 2 * width :], reset, hidden, out=new_NH[rows]).tanh_()
            state_BH[:size] = torch.lerp(new, before, update, out=out_NH[rows])
        ctx.save_for_backward(before_NH, hidden_NH, new_NH, gated_N2H, w_hh)
        ctx.steps = steps
        return out_NH

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, grad_NH: Tensor) -> tuple[Tensor | None, ...]:
        before_NH, hidden_NH, new_NH, gated_N2H, w_hh = ctx.saved_tensors
        width = w_hh.shape[1]
        reset_NH, update_NH = gated_N2H.chunk(2, 1)
        # What a gate's gradient is a multiple of, for all steps at once.
        rest_NH = 1 - update_NH
        to_new_NH = (1 - new_NH.square()).mul_(rest_NH)
        to_update_NH = (before_NH - new_NH).mul_(update_NH).mul_(rest_NH)
        to_reset_NH = (1 - reset_NH).mul_(reset_NH).mul_(hidden_NH)
        gates_NG, hidden_NG = grad_NH.new_empty(2, len(grad_NH), 3 * width).unbind()
        state_BH = grad_NH.new_zeros(max(size for _, size in ctx.steps), width)
        for rows, size in reversed(ctx.steps):
            state, hidden = state_BH[:size].add_(grad_NH[rows]), hidden_NG[rows]
            new = torch.mul(state, to_new_NH[rows], out=gates_NG[rows, 2 * width :])
            torch.mul(new, to_reset_NH[rows], out=hidden[:, :width])
            torch.mul(state, to_update_NH[rows], out=hidden[:, width : 2 * width])
            torch.mul(new, reset_NH[rows], out=hidden[:, 2 * width :])
            state.mul_(update_NH[rows]).addmm_(hidden, w_hh)
        gates_NG[:, : 2 * width] = hidden_NG[:, : 2 * width]
        return gates_NG, state_BH, hidden_NG.t() @ before_NH, hidden_NG.sum(0), None, None
