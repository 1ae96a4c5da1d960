"""GRU and LSTM over padded rows against torch's own, sequence by sequence."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor, nn

from paraform.models.layers import run_gru, run_lstm

LENGTHS = [3, 1, 6, 6, 2, 5]  # unsorted, with ties, one and full


def inputs(module: nn.GRU, *, rows: int = 6, time: int = 6) -> tuple[Tensor, Tensor]:
    directions = 2 if module.bidirectional else 1
    dtype = module.weight_ih_l0.dtype
    return (
        torch.randn(rows, time, module.input_size, dtype=dtype, requires_grad=True),
        torch.randn(directions, rows, module.hidden_size, dtype=dtype, requires_grad=True),
    )


def peer(module: nn.GRU, inputs_BTD: Tensor, initial: Tensor | None, lengths_B: Tensor | None) -> tuple[Tensor, Tensor]:
    """Each row by itself, without padding."""
    rows, time, _ = inputs_BTD.shape
    states, finals = [], []
    for row, length in enumerate([time] * rows if lengths_B is None else lengths_B.tolist()):
        before = None if initial is None else initial[:, row : row + 1].contiguous()
        state, final = module(inputs_BTD[row : row + 1, :length], before)
        states.append(nn.functional.pad(state, (0, 0, 0, time - length)))
        finals.append(final)
    return torch.cat(states), torch.cat(finals, 1)


def gradients(states: Tensor, final: Tensor, leaves: list[Tensor]) -> tuple[Tensor, ...]:
    """Of a loss in which every number of both outputs has its own weight."""
    loss = sum((out * torch.linspace(-1, 1, out.numel()).view(out.shape)).sum() for out in (states, final))
    return torch.autograd.grad(loss, leaves)


@pytest.mark.parametrize("bidirectional", [False, True])
@pytest.mark.parametrize(
    "lengths",
    [None, LENGTHS, [4, 1, 2, 4, 3, 1], [6, 6, 5, 3, 2, 1]],
    ids=["full", "some full", "all shorter", "ordered"],
)
@pytest.mark.parametrize("given", [False, True], ids=["zeros", "initial"])
def test_it_equals_the_module_and_so_do_its_gradients(
    bidirectional: bool, lengths: list[int] | None, given: bool
) -> None:
    torch.manual_seed(0)
    module = nn.GRU(7, 5, batch_first=True, bidirectional=bidirectional)
    inputs_BTD, initial = inputs(module)
    lengths_B = None if lengths is None else torch.tensor(lengths)
    leaves = [inputs_BTD, *([initial] if given else []), *module.parameters()]
    ours = run_gru(module, inputs_BTD, initial if given else None, lengths_B)
    theirs = peer(module, inputs_BTD, initial if given else None, lengths_B)
    torch.testing.assert_close(ours, theirs, rtol=1e-5, atol=1e-5)
    torch.testing.assert_close(gradients(*ours, leaves), gradients(*theirs, leaves), rtol=1e-5, atol=1e-5)


def test_packed_rows_have_one_function_in_their_graph_whose_gradients_are_right() -> None:
    torch.manual_seed(0)
    module = nn.GRU(3, 2, batch_first=True, bidirectional=True).double()
    inputs_BTD, initial = inputs(module, rows=3, time=4)
    lengths_B = torch.tensor([2, 4, 1])

    def run(*given: Tensor) -> Tensor:
        return torch.func.functional_call(packed, dict(zip(names, given[1:], strict=True)), (given[0],))

    class Packed(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.gru = module

        def forward(self, values_BTD: Tensor) -> Tensor:
            return run_gru(self.gru, values_BTD, initial, lengths_B)[0]

    packed = Packed()
    names = [name for name, _ in packed.named_parameters()]
    assert torch.autograd.gradcheck(run, (inputs_BTD, *packed.parameters()))
    graph, seen = [packed(inputs_BTD).grad_fn], set()
    while graph:
        node = graph.pop()
        seen.add(type(node).__name__)
        graph += [each for each, _ in node.next_functions if each is not None] if node else []
    assert "_GRUBackward" in seen
    with pytest.raises(RuntimeError, match="Expected hidden size"):
        run_gru(module, inputs_BTD, initial[:, :2], lengths_B)


def test_padding_is_neither_read_nor_written() -> None:
    torch.manual_seed(0)
    module = nn.GRU(7, 5, batch_first=True, bidirectional=True)
    inputs_BTD, initial = inputs(module)
    padded_BT = torch.arange(6) >= torch.tensor(LENGTHS)[:, None]
    spoilt_BTD = inputs_BTD.detach().masked_fill(padded_BT[:, :, None], float("nan")).requires_grad_()
    states, final = run_gru(module, spoilt_BTD, initial, torch.tensor(LENGTHS))
    (gradient,) = torch.autograd.grad(states.sum() + final.sum(), spoilt_BTD)
    assert not states[padded_BT].any() and states[~padded_BT].all() and final.isfinite().all()
    assert not gradient[padded_BT].any() and gradient[~padded_BT].all()


@pytest.mark.parametrize("given", [False, True], ids=["zeros", "initial"])
@torch.no_grad()
def test_one_token_at_a_time_is_the_same(given: bool) -> None:
    torch.manual_seed(0)
    module = nn.GRU(7, 5, batch_first=True)
    inputs_BTD, initial = inputs(module)
    before = initial if given else None
    expected, final = module(inputs_BTD, before)
    for time in range(inputs_BTD.shape[1]):
        state, before = run_gru(module, inputs_BTD[:, time : time + 1], before)
        torch.testing.assert_close(state[:, 0], expected[:, time], rtol=1e-5, atol=1e-6)
    torch.testing.assert_close(before, final, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize(
    "module",
    [nn.GRU(7, 5), nn.GRU(7, 5, num_layers=2, batch_first=True), nn.GRU(7, 5, bias=False, batch_first=True)],
)
def test_another_kind_of_module_is_refused(module: nn.GRU) -> None:
    with pytest.raises(ValueError, match="expected one layer with biases"):
        run_gru(module, torch.zeros(2, 3, 7))


@pytest.mark.parametrize("both_ways", [False, True])
def test_an_lstm_over_padded_rows(both_ways: bool) -> None:
    torch.manual_seed(0)
    module = nn.LSTM(3, 4, batch_first=True, bidirectional=both_ways)
    inputs_BTD = torch.randn(6, 6, 3)
    states_BTD, final_BD = run_lstm(module, inputs_BTD, torch.tensor(LENGTHS))
    for row, length in enumerate(LENGTHS):
        state, (final, _) = module(inputs_BTD[row : row + 1, :length])
        torch.testing.assert_close(states_BTD[row, :length], state[0])
        assert not states_BTD[row, length:].any()
        torch.testing.assert_close(final_BD[row], final[:, 0].flatten())
