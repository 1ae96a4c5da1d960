"""How far long work is, on stderr, where it never mixes with what a command prints: a bar, or a line a minute."""

from __future__ import annotations

import contextlib
import functools
import random
import sys
import time
from collections.abc import Iterable, Iterator, Sized
from dataclasses import dataclass
from typing import Any, TypeVar

Item = TypeVar("Item")

APART = 60.0  # seconds between two lines; what begins later than that after the last of other work is new work


@dataclass
class _Clock:
    """Of all work of the process, since it comes in parts and one within another: the last line, and the last item."""

    line: float
    item: float


_clock = _Clock(-APART, -APART)


def begin() -> None:
    """What comes is new work, as a command's is: its first line waits a minute."""
    _clock.line = _clock.item = time.monotonic()


def track(items: Iterable[Item], what: str, *, show: bool, total: int | None = None) -> Iterator[Item]:
    """The same items; with `show` a bar on a terminal or in a notebook, elsewhere a line for each minute of them.

    Args:
        what: is done, in a word or two.
        total: how many items there are, where they have no length and it is known.
    """
    if not show or sys.stderr is None:  # closed before Python began
        return iter(items)
    if is_watched():
        with kept_random():
            from rich.progress import track as bar  # a short answer has no bar, and is there before rich is

            return iter(bar(items, what, total, console=_console(), transient=True))
    return _told(items, what, len(items) if isinstance(items, Sized) else total)


def is_watched() -> bool:
    """Whether stderr is a terminal, or a notebook's."""
    isatty = getattr(sys.stderr, "isatty", None)
    with contextlib.suppress(ValueError):  # closed since
        return "ipykernel" in sys.modules or (isatty is not None and bool(isatty()))
    return False


@contextlib.contextmanager
def kept_random() -> Iterator[None]:
    """Python's generator is afterwards as it was: rich names its styles at random when it is imported."""
    state = random.getstate()
    try:
        yield
    finally:
        random.setstate(state)


@functools.cache
def _console() -> Any:
    """One for all bars: of two, each would write over the other's."""
    from rich.console import Console

    return Console(stderr=True)


def _told(items: Iterable[Item], what: str, total: int | None) -> Iterator[Item]:
    begun = time.monotonic()
    if begun - _clock.item > APART:
        _clock.line = begun
    for done, item in enumerate(items):
        now = _clock.item = time.monotonic()
        if now - _clock.line >= APART:
            _clock.line = now
            with contextlib.suppress(OSError, ValueError):  # nobody reads any more; the work goes on
                print(f"paraform: {_line(what, done, total, now - begun)}", file=sys.stderr, flush=True)
        yield item
    _clock.item = time.monotonic()


def _line(what: str, done: int, total: int | None, seconds: float) -> str:
    if not total:
        return f"{what}, part {done + 1:,}"
    if not done:
        return f"{what}, 0 %"
    left = round(seconds / done * (total - done) / 60)
    return f"{what}, {100 * done // total} %, {f'about {left:,} min' if left else 'under a minute'} left"
