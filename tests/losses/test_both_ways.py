"""What is known of a pair, by hand: one direction, both, or only whether both say the same."""

from __future__ import annotations

import math

import pytest
import torch

from paraform.losses.both_ways import both_ways_nll, log_same

NAN = math.nan


def nll(logits: tuple[float, float], known: tuple[float, float, float]) -> float:
    return both_ways_nll(torch.tensor([logits]).double(), torch.tensor([known]).double()).item()


def odds(share: float) -> float:
    return math.log(share / (1 - share))


def test_each_kind_of_knowledge_in_closed_form() -> None:
    """σ(forth) is 0.8 and σ(back) is 0.5, so that p(same) is 0.4."""
    ways = (odds(0.8), 0.0)
    assert log_same(torch.tensor([ways])).exp().item() == pytest.approx(0.4)
    assert nll(ways, (NAN, NAN, 1)) == pytest.approx(-math.log(0.4))
    assert nll(ways, (NAN, NAN, 0)) == pytest.approx(-math.log(0.6))
    assert nll(ways, (1, 0, NAN)) == pytest.approx(-math.log(0.8) - math.log(0.5))
    assert nll(ways, (NAN, 0, NAN)) == pytest.approx(-math.log(0.5))
    assert nll(ways, (0, NAN, 0)) == pytest.approx(-math.log(0.2))
    assert nll(ways, (1, NAN, 0)) == pytest.approx(-math.log(0.8) - math.log(0.5))  # then it is back that is not
    assert nll(ways, (NAN, 0.5, 1)) == pytest.approx(-math.log(0.5) - 0.5 * math.log(0.8))
    assert nll(ways, (NAN, NAN, 0.25)) == pytest.approx(-0.25 * math.log(0.4) - 0.75 * math.log(0.6))


def test_where_both_directions_are_known_the_label_says_no_more() -> None:
    assert nll((0.3, -0.2), (1, 0, 0)) == nll((0.3, -0.2), (1, 0, NAN))


def test_a_batch_is_the_mean_of_its_pairs() -> None:
    rows, known = [(0.3, -1.0), (2.0, 0.1)], [(1.0, NAN, 1.0), (NAN, NAN, 0.0)]
    both = both_ways_nll(torch.tensor(rows).double(), torch.tensor(known).double()).item()
    assert both == pytest.approx((nll(rows[0], known[0]) + nll(rows[1], known[1])) / 2)


def test_gradients_last_however_sure_the_judge_is() -> None:
    """d −ln (1 − p) / dx at x = y = 80 is ½, as it is at any x = y that are large: 1 − p = 2 e^−x, nearly."""
    logits = torch.tensor([[80.0, 80.0], [-80.0, 80.0]], requires_grad=True)
    loss = both_ways_nll(logits, torch.tensor([[NAN, NAN, 0.0], [NAN, NAN, 1.0]]))
    loss.backward()
    assert torch.isfinite(loss) and logits.grad is not None
    assert logits.grad.tolist() == [
        pytest.approx([0.25, 0.25], rel=1e-4),
        pytest.approx([-0.5, 0], abs=1e-6),
    ]  # two pairs


def test_other_shapes() -> None:
    with pytest.raises(ValueError, match=r"expected \[B, 2\] and \[B, 3\]"):
        both_ways_nll(torch.zeros(2, 2), torch.zeros(2, 2))
