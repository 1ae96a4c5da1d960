"""A GRU whose training is fast on CPUs (Cho et al. 2014, as `torch.nn.GRU` has it).

    r = σ(W_ir x + b_ir + W_hr h + b_hr),  z = σ(W_iz x + b_iz + W_hz h + b_hz)
    n = tanh(W_in x + b_in + r · (W_hn h + b_hn)),  h' = n + z · (h − n)

Backward through `nn.GRU` adds to the whole weight gradient at every step of time. Here only what one step needs of the
one before is done step by step, a product with W_hh in each direction; all else is one product over all words.

Shape key: B rows, T tokens of the longest, N tokens of all rows, D features in, H features out.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn
from torch.autograd.function import once_differentiable
from torch.nn.utils.rnn import PackedSequence, pack_padded_sequence, pad_packed_sequence


def run_gru(
    module: nn.GRU, inputs_BTD: Tensor, initial: Tensor | None = None, lengths_B: Tensor | None = None
) -> tuple[Tensor, Tensor]:
    """What the module gives for padded rows, by the fastest way: on a CPU `gru` in training and, without gradients,
    `gru_step` for one token; the module elsewhere.

    Args:
        module: of one layer, with biases and batch_first, in one direction or in both.
        inputs_BTD: a row's tokens stand first, then its padding.
        initial: [directions, B, H]; None: zeros.
        lengths_B: tokens of each row, 1 to T; None: all have T.
    Returns: states [B, T, directions · H], zero where padded, and final states [directions, B, H].
    Raises: ValueError if the module is of another kind.
    """
    if module.num_layers != 1 or not module.bias or not module.batch_first or module.proj_size:
        raise ValueError(f"{module}; expected one layer with biases: nn.GRU(inputs, width, batch_first=True)")
    rows, time, _ = inputs_BTD.shape
    plain = inputs_BTD.device.type == "cpu" and not torch.is_autocast_enabled("cpu")
    ours = plain and torch.is_grad_enabled()
    if plain and not ours and time == 1 and lengths_B is None and not module.bidirectional:
        before_BH = inputs_BTD.new_zeros(rows, module.hidden_size) if initial is None else initial[0]
        state_BH = gru_step(module, inputs_BTD[:, 0], before_BH)
        return state_BH[:, None], state_BH[None]
    if not ours and lengths_B is None:
        states, final = module(inputs_BTD, initial)
        return states, final
    packed = _pack(inputs_BTD, lengths_B)
    if ours:
        if initial is None:
            initial = inputs_BTD.new_zeros(2 if module.bidirectional else 1, rows, module.hidden_size)
        both = [
            _gru_packed(packed, initial[direction], weights, reverse=direction == 1)
            for direction, weights in enumerate(module.all_weights)
        ]
        states_ND = torch.cat([states for states, _ in both], -1) if len(both) == 2 else both[0][0]
        final = torch.stack([last for _, last in both])
        out = packed._replace(data=states_ND)
    else:
        out, final = module(packed, initial)
    return _pad(out, rows, time), final


def gru(
    inputs_BTD: Tensor,
    initial_BH: Tensor,
    weights: Sequence[Tensor],
    lengths_B: Tensor | None = None,
    *,
    reverse: bool = False,
) -> tuple[Tensor, Tensor]:
    """One direction of one layer, over padded rows.

    Args:
        inputs_BTD: a row's tokens stand first, then its padding.
        initial_BH: the states before the first token; with `reverse`, after the last.
        weights: `nn.GRU`'s own of one direction: W_i [3H, D], W_h [3H, H], b_i [3H], b_h [3H], each of r, z, n.
        lengths_B: tokens of each row, 1 to T; None: all have T.
        reverse: read each row from its last token to its first.
    Returns: states [B, T, H], zero where padded, and each row's state [B, H] after the token that it reads last.
    """
    packed = _pack(inputs_BTD, lengths_B)
    states_NH, final_BH = _gru_packed(packed, initial_BH, weights, reverse=reverse)
    return _pad(packed._replace(data=states_NH), *inputs_BTD.shape[:2]), final_BH


@torch.no_grad()
def gru_step(module: nn.GRU, inputs_BD: Tensor, state_BH: Tensor) -> Tensor:
    """One token, without gradients: fewer passes over memory than the module makes.

    Args:
        module: of one layer, with biases, in one direction.
        inputs_BD: one token of each row.
        state_BH: the states before it.
    Returns: the states [B, H] after it.
    """
    w_ih, w_hh, b_ih, b_hh = module.all_weights[0]
    width = module.hidden_size
    gates_BG = F.linear(inputs_BD, w_ih, b_ih)
    hidden_BG = F.linear(state_BH, w_hh, b_hh)
    reset_BH, update_BH = gates_BG[:, : 2 * width].add_(hidden_BG[:, : 2 * width]).sigmoid_().chunk(2, 1)
    new_BH = gates_BG[:, 2 * width :].addcmul_(reset_BH, hidden_BG[:, 2 * width :]).tanh_()
    return torch.lerp(new_BH, state_BH, update_BH)


def _pack(inputs_BTD: Tensor, lengths_B: Tensor | None) -> PackedSequence:
    """The first tokens of all rows, then the second ones, …; longer rows stand before shorter ones."""
    if lengths_B is not None:
        lengths_B = lengths_B.cpu()
        ordered = bool((lengths_B.diff() <= 0).all())  # then no copy puts the rows in order, or back
        return pack_padded_sequence(inputs_BTD, lengths_B, batch_first=True, enforce_sorted=ordered)
    rows, time, _ = inputs_BTD.shape
    return PackedSequence(inputs_BTD.transpose(0, 1).flatten(0, 1), torch.full((time,), rows))


def _pad(packed: PackedSequence, rows: int, time: int) -> Tensor:
    if packed.sorted_indices is None and len(packed.data) == rows * time:
        return packed.data.view(time, rows, -1).transpose(0, 1)
    return pad_packed_sequence(packed, batch_first=True, total_length=time)[0]


def _gru_packed(
    packed: PackedSequence, initial_BH: Tensor, weights: Sequence[Tensor], *, reverse: bool
) -> tuple[Tensor, Tensor]:
    """States [N, H] in the order of `packed`, and final states [B, H] in the order of the rows."""
    if packed.sorted_indices is not None:
        initial_BH = initial_BH[packed.sorted_indices]
    run: Callable[..., tuple[Tensor, Tensor]] = _PackedGRU.apply
    states_NH, final_BH = run(packed.data, initial_BH, *weights, packed.batch_sizes.tolist(), reverse)
    return states_NH, final_BH if packed.unsorted_indices is None else final_BH[packed.unsorted_indices]


class _PackedGRU(torch.autograd.Function):
    """The gates of a token stand in one row of 4H numbers: n, r, z, and W_hn h + b_hn.

    So the first 3H are what inputs add to, the last 3H what states add to, each by one product.
    """

    @staticmethod
    def forward(
        ctx: Any,
        inputs_ND: Tensor,
        initial_BH: Tensor,
        w_ih: Tensor,
        w_hh: Tensor,
        b_ih: Tensor,
        b_hh: Tensor,
        batch_sizes: list[int],
        reverse: bool,
    ) -> tuple[Tensor, Tensor]:
        width = w_hh.shape[1]
        gates = inputs_ND.new_empty(inputs_ND.shape[0], 4 * width)
        w_ih = w_ih.roll(width, 0)  # r, z, n → n, r, z
        bias = torch.cat([b_ih.roll(width), b_ih.new_zeros(width)])
        bias[width:] += b_hh
        torch.addmm(bias[: 3 * width], inputs_ND, w_ih.t(), out=gates[:, : 3 * width])
        gates[:, 3 * width :] = bias[3 * width :]
        previous_NH = inputs_ND.new_empty(inputs_ND.shape[0], width)
        states_NH = torch.empty_like(previous_NH)
        state_BH = initial_BH.clone(memory_format=torch.contiguous_format)
        w_hh_t = w_hh.t().contiguous()  # read at every step, in rows as they stand in memory
        for at in _steps(batch_sizes, reverse):
            state = state_BH[: at.stop - at.start]  # a row that has ended, or has not begun, keeps its state
            previous_NH[at] = state
            step = gates[at]
            step[:, width:].addmm_(state, w_hh_t)
            new, reset, update, hidden = step.chunk(4, 1)
            step[:, width : 3 * width].sigmoid_()
            new.addcmul_(reset, hidden).tanh_()
            torch.lerp(new, state, update, out=states_NH[at])
            state.copy_(states_NH[at])
        ctx.save_for_backward(inputs_ND, w_ih, w_hh, gates, previous_NH, states_NH)
        ctx.batch_sizes, ctx.reverse = batch_sizes, reverse
        return states_NH, state_BH

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, d_states_NH: Tensor, d_final_BH: Tensor) -> tuple[Tensor | None, ...]:
        inputs_ND, w_ih, w_hh, gates, previous_NH, states_NH = ctx.saved_tensors
        width = w_hh.shape[1]
        d_gates = torch.empty_like(gates)
        d_state_BH = d_final_BH.clone(memory_format=torch.contiguous_format)
        for at in _steps(ctx.batch_sizes, not ctx.reverse):
            d_state = d_state_BH[: at.stop - at.start]
            d_state += d_states_NH[at]
            new, reset, update, hidden = gates[at].chunk(4, 1)
            d_new, d_reset, d_update, d_hidden = d_gates[at].chunk(4, 1)
            # Each before its σ or tanh; with σ' = σ (1 − σ), tanh' = 1 − tanh², z (h − n) = h' − n.
            torch.addcmul(d_state, d_state, update, value=-1, out=d_update)
            torch.addcmul(d_update, d_update, new * new, value=-1, out=d_new)
            d_update.mul_(states_NH[at] - new)
            torch.mul(d_new, reset, out=d_hidden)
            torch.mul(d_hidden, hidden, out=d_reset)
            d_reset.addcmul_(d_reset, reset, value=-1)
            d_state.mul_(update).addmm_(d_gates[at, width:], w_hh)
        from_inputs, from_states = d_gates[:, : 3 * width], d_gates[:, width:]
        # A sum down the rows, as a product: on one thread that reads memory faster.
        d_bias = d_gates.new_ones(d_gates.shape[0]) @ d_gates
        return (
            from_inputs @ w_ih if ctx.needs_input_grad[0] else None,
            d_state_BH,
            (from_inputs.t() @ inputs_ND).roll(-width, 0),
            from_states.t() @ previous_NH,
            d_bias[: 3 * width].roll(-width),
            d_bias[width:],
            None,
            None,
        )


def _steps(batch_sizes: list[int], reverse: bool) -> Iterator[slice]:
    """The packed tokens of each step of time."""
    ends = torch.tensor(batch_sizes).cumsum(0).tolist()
    steps = [slice(end - size, end) for size, end in zip(batch_sizes, ends, strict=True)]
    return reversed(steps) if reverse else iter(steps)
