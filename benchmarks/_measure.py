"""What the benchmarks share: runs in turn, and figures beside the bound that they must keep."""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Callable, Mapping, Sequence
from statistics import median
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:  # some benchmarks measure how long a start takes
    import torch

PRODUCT = 2048
"""Rows and columns of the matrices whose product is the machine's rate."""
Bound = tuple[str, float]
"""("at most" or "at least", the number)."""


class Spread(NamedTuple):
    """A ratio of things run in turn: the median of the turns, the least and the largest."""

    middle: float
    least: float
    largest: float

    def __str__(self) -> str:
        return f"{self.middle:.2f} ({self.least:.2f} to {self.largest:.2f})"

    @classmethod
    def of(cls, ours: Sequence[float], theirs: Sequence[float]) -> Spread:
        """How many times as fast ours is, of the seconds of each turn."""
        turns = [other / own for own, other in zip(ours, theirs, strict=True)]
        return cls(middle(turns), min(turns), max(turns))


def arguments_of(doc: str | None) -> argparse.ArgumentParser:
    """A parser that every benchmark begins with."""
    parser = argparse.ArgumentParser(description=doc, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    parser.add_argument("--threads", type=int, help="of torch; not given: as many as it takes by itself")
    return parser


def in_turn(repeats: int, runs: Mapping[str, Callable[[], object]]) -> dict[str, list[float]]:
    """Seconds of each run, A B A B …: what slows the machine down for a while slows them all.

    Each is run once before, untimed: files come into memory, and what is made once is made.
    """
    seconds: dict[str, list[float]] = {name: [] for name in runs}
    for turn in range(repeats + 1):
        for name, run in runs.items():
            start = time.perf_counter()
            run()
            if turn:
                seconds[name].append(time.perf_counter() - start)
    return seconds


def product_seconds(dtype: torch.dtype, seconds: float = 1.0) -> list[float]:
    """Of each product of two matrices of `PRODUCT` × `PRODUCT`, as many as fit the time."""
    import torch

    one, other = torch.randn(2, PRODUCT, PRODUCT, dtype=dtype)
    out = torch.empty_like(one)
    taken: list[float] = []
    end = time.perf_counter() + seconds
    while time.perf_counter() < end:
        start = time.perf_counter()
        torch.mm(one, other, out=out)
        taken.append(time.perf_counter() - start)
    return taken


def matrix_rate() -> float:
    """Multiply-adds a second of a large product, the median: what slows the machine down slows its neighbours too.

    Of bfloat16 where that is faster or asked for, else of float32.
    """
    import torch

    from paraform.encoders import best_dtype

    return PRODUCT**3 / middle(product_seconds(best_dtype(torch.device("cpu"))))


def report(figures: Mapping[str, Any], bounds: Mapping[str, Bound], *, as_json: bool) -> int:
    """Print each figure, and whether those with a bound keep it; the exit status is 1 if one does not."""
    kept = {name: _keeps(figures[name], bound) for name, bound in bounds.items()}
    if as_json:
        stated = {name: {"bound": f"{way} {limit:g}", "kept": kept[name]} for name, (way, limit) in bounds.items()}
        print(json.dumps({"figures": dict(figures), "bounds": stated}, ensure_ascii=False))
    else:
        width = max(map(len, figures))
        for name, value in figures.items():
            way, limit = bounds.get(name, ("", 0.0))
            verdict = f"   {way} {limit:g}: {'kept' if kept[name] else 'MISSED'}" if way else ""
            print(f"{name:{width}}  {_shown(value)}{verdict}")
    return 0 if all(kept.values()) else 1


def _keeps(value: float | Spread, bound: Bound) -> bool:
    way, limit = bound
    value = value.middle if isinstance(value, Spread) else value
    return value <= limit if way == "at most" else value >= limit


def _shown(value: Any) -> str:
    if isinstance(value, float):
        return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.6g}"
    return f"{value:,}" if isinstance(value, int) else str(value)


def middle(seconds: Sequence[float]) -> float:
    """The median, of runs whose slowest say more of the machine than of the code."""
    return float(median(seconds))
