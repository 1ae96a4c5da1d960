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
Clock = Callable[[], float]
"""Seconds since some moment."""


class Spread(NamedTuple):
    """A ratio of things run in turn: the median of the turns, the least and the largest."""

    middle: float
    least: float
    largest: float

    def __str__(self) -> str:
        return f"{self.middle:.2f} ({self.least:.2f} to {self.largest:.2f})"

    @classmethod
    def of(cls, ours: Sequence[float], theirs: Sequence[float]) -> Spread:
        """How many times as fast ours is, or as long theirs takes, of the seconds of each turn."""
        turns = [other / own for own, other in zip(ours, theirs, strict=True)]
        return cls(middle(turns), min(turns), max(turns))


def arguments_of(doc: str | None) -> argparse.ArgumentParser:
    """A parser that every benchmark begins with."""
    parser = argparse.ArgumentParser(description=doc, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    parser.add_argument("--threads", type=int, help="of torch; not given: as many as cores are idle")
    return parser


def clock_of(threads: int | None) -> Clock:
    """The processor's for one thread, by which other programs do not count; of several threads those that wait would.

    Processes that this one has started and waited for are counted, too.
    """
    return processor_seconds if threads == 1 else time.perf_counter


def processor_seconds() -> float:
    """Of this process and those that it has waited for."""
    import resource  # not on Windows

    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(one.ru_utime + one.ru_stime for one in used)


def in_turn(
    repeats: int,
    runs: Mapping[str, Callable[[], object]],
    *,
    untimed: int = 1,
    clock: Clock = time.perf_counter,
) -> dict[str, list[float]]:
    """Seconds of each run, A B A B …: what slows the machine down for a while slows them all.

    Args:
        untimed: runs of each before: files come into memory, and what is made once is made.
        clock: `clock_of` has a better one for one thread.
    """
    seconds: dict[str, list[float]] = {name: [] for name in runs}
    for turn in range(-untimed, repeats):
        for name, run in runs.items():
            start = clock()
            run()
            if turn >= 0:
                seconds[name].append(clock() - start)
    return seconds


def product_seconds(dtype: torch.dtype, clock: Clock = time.perf_counter, seconds: float = 1.0) -> list[float]:
    """Of each product of two matrices of `PRODUCT` × `PRODUCT`, as many as fit the time."""
    import torch

    one, other = torch.randn(2, PRODUCT, PRODUCT, dtype=dtype)
    out = torch.empty_like(one)
    taken: list[float] = []
    end = clock() + seconds
    while clock() < end:
        start = clock()
        torch.mm(one, other, out=out)
        taken.append(clock() - start)
    return taken


def matrix_rate(clock: Clock = time.perf_counter) -> float:
    """Multiply-adds a second of a large product, the median: what slows the machine down slows its neighbours too.

    Of bfloat16 where that is faster or asked for, else of float32.
    """
    import torch

    from paraform.encoders import best_dtype

    return PRODUCT**3 / middle(product_seconds(best_dtype(torch.device("cpu")), clock))


def report(
    figures: Mapping[str, Any],
    bounds: Mapping[str, Bound],
    *,
    floors: Mapping[str, str] | None = None,
    as_json: bool,
) -> int:
    """Print each figure, and whether those with a bound keep it; the exit status is 1 if one does not.

    Args:
        floors: of a figure, the best that any code could show, and how that is known.
    """
    kept = {name: _keeps(figures[name], bound) for name, bound in bounds.items()}
    floors = floors or {}
    if as_json:
        stated = {name: {"bound": f"{way} {limit:g}", "kept": kept[name]} for name, (way, limit) in bounds.items()}
        print(json.dumps({"figures": dict(figures), "bounds": stated, "floors": dict(floors)}, ensure_ascii=False))
    else:
        width = max(map(len, figures))
        for name, value in figures.items():
            way, limit = bounds.get(name, ("", 0.0))
            verdict = f"   {way} {limit:g}: {'kept' if kept[name] else 'MISSED'}" if way else ""
            floor = f"   floor {floors[name]}" if name in floors else ""
            print(f"{name:{width}}  {_shown(value)}{verdict}{floor}")
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
