"""What a person at the terminal sees of the loop, and how they stop it."""

from __future__ import annotations

import signal
import sys
import threading
import time
from collections.abc import Mapping
from types import FrameType
from typing import Any, Self

from paraform.progress import kept_random

SAME_SIGNAL = 1.0  # seconds


class Interrupt:
    """Ctrl-C and SIGTERM, noted so that the step in hand can end and be saved; a second one acts at once.

    A second SIGTERM within a second is the first one: `timeout` sends it to the process, and then to its group.

    A context manager; `name` is "" until a signal comes. Outside the main thread, where Python allows no handlers,
    signals act as ever.
    """

    def __init__(self) -> None:
        self.name = ""
        self._at = 0.0
        self._before: dict[signal.Signals, Any] = {}

    def __enter__(self) -> Self:
        if threading.current_thread() is threading.main_thread():
            for number in (signal.SIGINT, signal.SIGTERM):
                self._before[number] = signal.signal(number, self._note)
        return self

    def __exit__(self, *error: object) -> None:
        for number, handler in self._before.items():
            signal.signal(number, signal.SIG_DFL if handler is None else handler)  # None: it was not set by Python

    def _note(self, number: int, frame: FrameType | None) -> None:
        again = self.name == "SIGTERM" and number == signal.SIGTERM
        if again and time.monotonic() - self._at < SAME_SIGNAL:
            return
        self.__exit__()
        if again:
            signal.raise_signal(number)
            return
        self.name, self._at = signal.Signals(number).name, time.monotonic()
        if number == signal.SIGTERM:
            signal.signal(number, self._note)


LINES_APART = 60.0  # seconds


class Bar:
    """The progress bar on stderr; a context manager. It draws no number from the run's generators.

    Where there is no terminal, it is a line a minute.

    Args:
        total: steps of the run.
        when: "auto" (the bar on a terminal, else lines), "always" (the bar) or "never".
        done: steps that were done before.
    """

    def __init__(self, total: int, when: str, done: int = 0) -> None:
        self._total, self._begun, self._first = total, time.monotonic(), done
        with kept_random():  # rich names its styles at random when it is imported
            from rich.console import Console
            from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

            console = Console(stderr=True)
            self._progress = Progress(
                TextColumn("training"),
                BarColumn(),
                MofNCompleteColumn(),
                TimeRemainingColumn(),
                TextColumn("{task.description}"),
                console=console,
                auto_refresh=False,  # a thread of rich's would draw numbers between ours
                disable=when == "never" or (when == "auto" and not console.is_terminal),
            )
            self._task = self._progress.add_task("", total=total, completed=done)
        self._lines = when == "auto" and not console.is_terminal
        self._drawn = self._begun if self._lines else 0.0

    def step(self, done: int, terms: Mapping[str, float]) -> None:
        """Show that so many steps are done, with the last one's terms; at most ten times a second, and at the end."""
        if self._lines:
            self._tell(done, terms)
        if self._progress.disable:
            return
        shown = _shown(terms)
        due = time.monotonic() - self._drawn >= 0.1
        with kept_random():
            self._progress.update(self._task, completed=done, description=shown, refresh=due)
        self._drawn = time.monotonic() if due else self._drawn

    def _tell(self, done: int, terms: Mapping[str, float]) -> None:
        now = time.monotonic()
        if now - self._drawn < LINES_APART or done == self._total:
            return
        self._drawn = now
        left = round((now - self._begun) / (done - self._first) * (self._total - done) / 60)
        about = f"about {left:,} min left" if left else "under a minute left"
        print(f"paraform: step {done:,} of {self._total:,}, {about}: {_shown(terms)}", file=sys.stderr, flush=True)

    def __enter__(self) -> Self:
        with kept_random():
            self._progress.start()
        return self

    def __exit__(self, *error: object) -> None:
        with kept_random():
            self._progress.stop()


def _shown(terms: Mapping[str, float]) -> str:
    return "  ".join(f"{name} {value:.4g}" for name, value in terms.items())
