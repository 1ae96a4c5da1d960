from __future__ import annotations

import pytest

from paraform.schedules import constant, cyclical, learning_rate, linear_ramp, warmup_linear


def test_constant() -> None:
    assert [constant()(step) for step in (0, 7)] == [1.0, 1.0]
    assert constant(0.3)(10**9) == 0.3


def test_warm_up_then_a_straight_line_to_zero() -> None:
    rate = warmup_linear(total=10, warmup=4)
    assert [rate(step) for step in range(4)] == [0.25, 0.5, 0.75, 1.0]
    assert [rate(step) for step in range(4, 13)] == pytest.approx([1, 5 / 6, 4 / 6, 3 / 6, 2 / 6, 1 / 6, 0, 0, 0])


def test_without_warm_up() -> None:
    assert [warmup_linear(total=4)(step) for step in range(5)] == [1.0, 0.75, 0.5, 0.25, 0.0]


@pytest.mark.parametrize(("total", "warmup"), [(4, 4), (4, 5), (0, 0), (4, -1)])
def test_a_schedule_that_cannot_be(total: int, warmup: int) -> None:
    with pytest.raises(ValueError, match="expected 0 <= warmup < total"):
        warmup_linear(total=total, warmup=warmup)


def test_a_ramp() -> None:
    assert [linear_ramp(start=0.1, end=1.0, steps=3)(step) for step in range(5)] == pytest.approx([0.1, 0.4, 0.7, 1, 1])
    assert linear_ramp(start=0.1, end=1.0, steps=0)(0) == 1.0
    with pytest.raises(ValueError, match="expected at least 0"):
        linear_ramp(start=0.0, end=1.0, steps=-1)


def test_cycles() -> None:
    beta = cyclical(start=0.0, end=1.0, period=4, ramp=0.5)
    assert [beta(step) for step in range(9)] == [0, 0.5, 1, 1, 0, 0.5, 1, 1, 0]
    assert [cyclical(start=0.1, end=1.0, period=3, ramp=1.0)(step) for step in range(4)] == pytest.approx(
        [0.1, 0.4, 0.7, 0.1]
    )
    for period, ramp in ((0, 0.5), (3, 1.5)):
        with pytest.raises(ValueError, match="expected a period"):
            cyclical(start=0.0, end=1.0, period=period, ramp=ramp)


def test_a_learning_rate_stays_or_falls() -> None:
    """Of 40 steps two are the warm-up, of 100,000 five hundred."""
    assert [learning_rate("constant", total=40)(step) for step in (0, 39)] == [1, 1]
    assert [learning_rate("linear", total=40)(step) for step in (0, 1, 2, 21, 39)] == [0.5, 1, 1, 0.5, 1 / 38]
    assert learning_rate("linear", total=100_000)(499) == 1 > learning_rate("linear", total=100_000)(498)
