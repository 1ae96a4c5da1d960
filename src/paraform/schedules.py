"""Functions of the step: `rate = warmup_linear(...); rate(step)`."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

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
