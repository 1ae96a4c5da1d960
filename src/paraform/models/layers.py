"""Layers that several systems share: leaky-ReLU networks, GRU and LSTM over padded rows, attention and pointing.

Shape key: B rows, T tokens of the longest, D features in, H features out; S tokens that are attended to.
"""

from __future__ import annotations

import torch
import torch.nn.functional as F
from torch import Tensor, nn
from torch.nn.utils.rnn import PackedSequence, pack_padded_sequence, pad_packed_sequence

from paraform.models.packed_gru import run_packed


def leaky_layers(inputs: int, width: int, depth: int, outputs: int) -> nn.Sequential:
    """`depth` leaky-ReLU layers of that width, then a linear one: [..., inputs] → [..., outputs]."""
    layers: list[nn.Module] = []
    for _ in range(depth):
        layers += [nn.Linear(inputs, width), nn.LeakyReLU()]
        inputs = width
    return nn.Sequential(*layers, nn.Linear(inputs, outputs))


def run_gru(
    module: nn.GRU, inputs_BTD: Tensor, initial: Tensor | None = None, lengths_B: Tensor | None = None
) -> tuple[Tensor, Tensor]:
    """What a GRU gives for padded rows.

    Args:
        module: a GRU of one layer, with biases and batch_first, in one direction or in both.
        inputs_BTD: a row's tokens stand first, then its padding.
        initial: [directions, B, H]; None: zeros.
        lengths_B: tokens of each row, 1 to T; None: all have T.
    Returns: states [B, T, directions · H], zero where padded, and final states [directions, B, H].
    Raises: ValueError if the module is of another kind.
    """
    if module.num_layers != 1 or not module.bias or not module.batch_first or module.proj_size:
        raise ValueError(f"{module}; expected one layer with biases: nn.GRU(inputs, width, batch_first=True)")
    on_cpu = inputs_BTD.device.type == "cpu" and not torch.is_autocast_enabled("cpu")
    if lengths_B is not None:
        packed, time = _packed(inputs_BTD, lengths_B), inputs_BTD.shape[1]
        if on_cpu and torch.is_grad_enabled():
            states_BTH, _ = pad_packed_sequence(
                run_packed(module, packed, initial), batch_first=True, total_length=time
            )
            ends = [states_BTH[torch.arange(len(lengths_B)), lengths_B - 1, : module.hidden_size]]
            if module.bidirectional:
                ends.append(states_BTH[:, 0, module.hidden_size :])
            return states_BTH, torch.stack(ends)
        out, final = module(packed, initial)
        return pad_packed_sequence(out, batch_first=True, total_length=time)[0], final
    plain = on_cpu and not torch.is_grad_enabled()
    if plain and inputs_BTD.shape[1] == 1 and not module.bidirectional:
        before_BH = inputs_BTD.new_zeros(len(inputs_BTD), module.hidden_size) if initial is None else initial[0]
        state_BH = gru_step(module, inputs_BTD[:, 0], before_BH)
        return state_BH[:, None], state_BH[None]
    states, final = module(inputs_BTD, initial)
    return states, final


def run_lstm(module: nn.LSTM, inputs_BTD: Tensor, lengths_B: Tensor) -> tuple[Tensor, Tensor]:
    """What an LSTM of one layer, batch_first, gives for padded rows, from zeros.

    Args:
        inputs_BTD: a row's tokens stand first, then its padding.
        lengths_B: tokens of each row, 1 to T.
    Returns: states [B, T, directions · H], zero where padded, and the final states side by side [B, directions · H].
    """
    if not module.bidirectional:
        # What stands behind the last token comes after it in time, and packed rows take longer to train.
        lengths_B = lengths_B.to(inputs_BTD.device)
        states_BTD, _ = module(inputs_BTD)
        there_BT = torch.arange(inputs_BTD.shape[1], device=inputs_BTD.device) < lengths_B[:, None]
        last_BD = states_BTD[torch.arange(len(lengths_B), device=inputs_BTD.device), lengths_B - 1]
        return states_BTD * there_BT[:, :, None], last_BD
    out, (final, _) = module(_packed(inputs_BTD, lengths_B))
    states_BTD, _ = pad_packed_sequence(out, batch_first=True, total_length=inputs_BTD.shape[1])
    return states_BTD, final.transpose(0, 1).flatten(1)


def _packed(inputs_BTD: Tensor, lengths_B: Tensor) -> PackedSequence:
    lengths_B = lengths_B.cpu()
    ordered = bool((lengths_B.diff() <= 0).all())  # then no copy puts the rows in order, or back
    return pack_padded_sequence(inputs_BTD, lengths_B, batch_first=True, enforce_sorted=ordered)


@torch.no_grad()
def gru_step(module: nn.GRU, inputs_BD: Tensor, state_BH: Tensor) -> Tensor:
    """The states [B, H] after one token, in one direction, without gradients.

    In bfloat16 the module itself makes a whole paraphrase take 3.7 times as long; in float32 the two are equal.
    """
    w_ih, w_hh, b_ih, b_hh = module.all_weights[0]
    width = module.hidden_size
    gates_BG = F.linear(inputs_BD, w_ih, b_ih)
    hidden_BG = F.linear(state_BH, w_hh, b_hh)
    reset_BH, update_BH = gates_BG[:, : 2 * width].add_(hidden_BG[:, : 2 * width]).sigmoid_().chunk(2, 1)
    new_BH = gates_BG[:, 2 * width :].addcmul_(reset_BH, hidden_BG[:, 2 * width :]).tanh_()
    return torch.lerp(new_BH, state_BH, update_BH)


class BiGRU(nn.Module):
    """A bidirectional GRU over padded rows: states [B, T, 2·width] and the two final states [B, 2·width]."""

    def __init__(self, inputs: int, width: int) -> None:
        super().__init__()
        self.gru = nn.GRU(inputs, width, batch_first=True, bidirectional=True)

    def forward(self, inputs_BTD: Tensor, lengths_B: Tensor) -> tuple[Tensor, Tensor]:
        states_BTD, final_2BW = run_gru(self.gru, inputs_BTD, lengths_B=lengths_B)
        return states_BTD, torch.cat([final_2BW[0], final_2BW[1]], -1)


class Pointer(nn.Module):
    """Bilinear attention (Luong et al. 2015, "general") as log-weights [B, T, S]; −inf where masked."""

    def __init__(self, queries: int, keys: int) -> None:
        super().__init__()
        self.project = nn.Linear(queries, keys, bias=False)

    def forward(self, query_BTH: Tensor, keys_BSD: Tensor, mask_BS: Tensor, bias_BTS: Tensor | None = None) -> Tensor:
        query_BTD = self.project(query_BTH)
        if query_BTD.shape[1] == 1:  # decoding's one query: keys times query takes less time in bfloat16
            scores_BTS = (keys_BSD @ query_BTD.transpose(1, 2)).transpose(1, 2)
        else:
            scores_BTS = query_BTD @ keys_BSD.transpose(1, 2)
        if bias_BTS is not None:
            scores_BTS = scores_BTS + bias_BTS
        return torch.log_softmax(scores_BTS.masked_fill(~mask_BS[:, None, :], float("-inf")), -1)


class Attention(Pointer):
    """What is read by those weights, [B, T, D]."""

    def forward(self, query_BTH: Tensor, keys_BSD: Tensor, mask_BS: Tensor, bias_BTS: Tensor | None = None) -> Tensor:
        if torch.is_grad_enabled():  # then the fused kernel is slower on CPUs, or knows no gradient of the bias
            return super().forward(query_BTH, keys_BSD, mask_BS, bias_BTS).exp() @ keys_BSD
        mask_B1S, keys_B1SD = mask_BS[:, None], keys_BSD[:, None]  # one head
        mask_BTS = mask_B1S if bias_BTS is None else bias_BTS.masked_fill(~mask_B1S, float("-inf"))
        query_B1TD = self.project(query_BTH)[:, None]
        mask_B1TS = mask_BTS[:, None]
        read_B1TD = F.scaled_dot_product_attention(query_B1TD, keys_B1SD, keys_B1SD, attn_mask=mask_B1TS, scale=1.0)
        return read_B1TD[:, 0]
