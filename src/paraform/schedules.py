"""Functions of the step: `rate = warmup_linear(...); rate(step)`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal, TypeAlias

Schedule: TypeAlias = Callable[[int], float]
"""step, counted from 0 → a factor or a weight."""


def constant(value: float = 1.0) -> Schedule:
    """The same at every step."""
    return lambda step: value


def warmup_linear(*, total: int, warmup: int = 0) -> Schedule:
    """From 0 up to 1 over `warmup` steps, then in a straight line to 0 at step `total`.

    Step 0 already moves: the factor is that of the step's end.
    Raises: ValueError if total ≤ warmup or warmup < 0.
    """
    if not 0 <= warmup < total:
        raise ValueError(f"warmup {warmup} of {total} steps; expected 0 <= warmup < total")

    def factor(step: int) -> float:
        if step < warmup:
            return (step + 1) / warmup
        return max(0.0, (total - step) / (total - warmup))

    return factor


def learning_rate(kind: Literal["constant", "linear"], *, total: int) -> Schedule:
    """The factor on a learning rate: the same at every step, or, "linear", `warmup_linear` after a short warm-up."""
    return warmup_linear(total=total, warmup=min(500, total // 20)) if kind == "linear" else constant()


def linear_ramp(*, start: float, end: float, steps: int) -> Schedule:
    """From `start` at step 0 in a straight line to `end` at step `steps`, and `end` from then on.

    Raises: ValueError if steps < 0.
    """
    if steps < 0:
        raise ValueError(f"a ramp of {steps} steps; expected at least 0")
    return lambda step: _on_the_way(start, end, step, steps)


def cyclical(*, start: float, end: float, period: float, ramp: float) -> Schedule:
    """A linear ramp over the first part `ramp` of every period (Fu et al. 2019, eq. 6, with R = ramp).

    Args:
        period: in steps; not rounded to whole ones, so that a run of so many periods ends with one.
    Raises: ValueError if the period is no step, or the ramp is not 0 to 1.
    """
    if period < 1 or not 0 <= ramp <= 1:
        raise ValueError(f"period {period}, ramp {ramp}; expected a period of at least 1 step and a ramp of 0 to 1")
    return lambda step: _on_the_way(start, end, step % period, period * ramp)


def _on_the_way(start: float, end: float, step: float, steps: float) -> float:
    return end if step >= steps else start + (end - start) * step / steps
