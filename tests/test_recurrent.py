"""The GRU against `torch.nn.GRU`, and its backward against finite differences."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor, nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence

from paraform.recurrent import gru, run_gru

LENGTHS = [3, 1, 6, 6, 2, 5]  # unsorted, with ties, one and full


def inputs(module: nn.GRU, *, rows: int = 6, time: int = 6) -> tuple[Tensor, Tensor]:
    directions = 2 if module.bidirectional else 1
    dtype = module.weight_ih_l0.dtype
    return (
        torch.randn(rows, time, module.input_size, dtype=dtype, requires_grad=True),
        torch.randn(directions, rows, module.hidden_size, dtype=dtype, requires_grad=True),
    )


def peer(module: nn.GRU, inputs_BTD: Tensor, initial: Tensor | None, lengths_B: Tensor | None) -> tuple[Tensor, Tensor]:
    if lengths_B is None:
        return module(inputs_BTD, initial)
    packed = pack_padded_sequence(inputs_BTD, lengths_B, batch_first=True, enforce_sorted=False)
    states, final = module(packed, initial)
    return pad_packed_sequence(states, batch_first=True, total_length=inputs_BTD.shape[1])[0], final


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
    assert "PackedGRU" in names(ours[0])
    torch.testing.assert_close(ours, theirs, rtol=1e-5, atol=1e-5)
    torch.testing.assert_close(gradients(*ours, leaves), gradients(*theirs, leaves), rtol=1e-5, atol=1e-5)


def names(tensor: Tensor) -> str:
    """The backward functions behind a tensor."""
    found, waiting = [], [tensor.grad_fn]
    while waiting:
        node = waiting.pop()
        if node is not None:
            found.append(node.name())
            waiting += [before for before, _ in node.next_functions]
    return " ".join(found)


@pytest.mark.parametrize("reverse", [False, True])
@pytest.mark.parametrize("lengths", [None, [2, 1, 3]])
def test_its_backward_equals_finite_differences(reverse: bool, lengths: list[int] | None) -> None:
    torch.manual_seed(0)
    module = nn.GRU(3, 2, batch_first=True, dtype=torch.float64)
    inputs_BTD, initial = inputs(module, rows=3, time=3)
    lengths_B = None if lengths is None else torch.tensor(lengths)

    def run(inputs_BTD: Tensor, initial_BH: Tensor, *weights: Tensor) -> tuple[Tensor, Tensor]:
        return gru(inputs_BTD, initial_BH, list(weights), lengths_B, reverse=reverse)

    assert torch.autograd.gradcheck(run, (inputs_BTD, initial[0].detach().requires_grad_(), *module.all_weights[0]))


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


def test_one_output_is_enough_and_the_graph_can_be_kept() -> None:
    torch.manual_seed(0)
    module = nn.GRU(7, 5, batch_first=True, bidirectional=True)
    inputs_BTD, _ = inputs(module)
    lengths_B = torch.tensor(LENGTHS)
    for output in (0, 1):
        loss, expected = (run(module, inputs_BTD, None, lengths_B)[output].square().sum() for run in (run_gru, peer))
        first = torch.autograd.grad(loss, module.weight_hh_l0, retain_graph=True)
        again = torch.autograd.grad(loss, module.weight_hh_l0)
        torch.testing.assert_close(first, again, rtol=0, atol=0)
        torch.testing.assert_close(first, torch.autograd.grad(expected, module.weight_hh_l0), rtol=1e-5, atol=1e-5)


def test_without_gradients_or_under_autocast_the_module_itself_runs() -> None:
    torch.manual_seed(0)
    module = nn.GRU(7, 5, batch_first=True, bidirectional=True)
    inputs_BTD, initial = inputs(module)
    lengths_B = torch.tensor(LENGTHS)
    trained = run_gru(module, inputs_BTD, initial, lengths_B)
    with torch.no_grad():
        torch.testing.assert_close(run_gru(module, inputs_BTD, initial, lengths_B), trained, rtol=1e-5, atol=1e-5)
    with torch.autocast("cpu", torch.bfloat16):
        assert "PackedGRU" not in names(run_gru(module, inputs_BTD, initial)[0])


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
