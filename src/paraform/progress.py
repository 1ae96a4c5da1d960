"""How far long work is, on stderr, where it never mixes with what a command prints: a bar, or a line a minute."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterable, Iterator, Sized
from dataclasses import dataclass
from typing import TypeVar

Item = TypeVar("Item")

APART = 60.0  # seconds between two lines
PAUSE = 10.0  # seconds; what begins later than that after the last of other work is new work, whose first line waits


@dataclass
class _Clock:
    """Of all work of the process, since it comes in parts and one within another: the last line, and the last item."""

    line: float
    item: float


_clock = _Clock(-PAUSE, -PAUSE)


def track(items: Iterable[Item], what: str, *, show: bool, total: int | None = None) -> Iterator[Item]:
    """The same items; with `show` a bar on a terminal, elsewhere a line for each minute that they take.

    Args:
        what: is done, in a word or two.
        total: how many items there are, where they have no length and it is known.
    """
    if not show or sys.stderr is None:  # it was closed
        return iter(items)
    if sys.stderr.isatty():
        from rich.console import Console  # a short answer has no bar, and is there before rich is
        from rich.progress import track as bar

        return iter(bar(items, what, total, console=Console(stderr=True), transient=True))
    return _told(items, what, len(items) if isinstance(items, Sized) else total)


def _told(items: Iterable[Item], what: str, total: int | None) -> Iterator[Item]:
    begun = time.monotonic()
    if begun - _clock.item > PAUSE:
        _clock.line = begun
    for done, item in enumerate(items):
        now = _clock.item = time.monotonic()
        if now - _clock.line >= APART:
            _clock.line = now
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
