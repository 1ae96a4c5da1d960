"""What this program says on stderr."""

from __future__ import annotations

import logging
import sys
from collections import Counter
from typing import Any, cast

from paraform.words import CUT, UNREAD

SUMMED = (CUT, UNREAD)  # messages that begin with two counts


class Teller(logging.Handler):
    """The library's warnings, as this program says them; of texts not read whole the sum, when `flush` is called."""

    def __init__(self) -> None:
        super().__init__()
        self._lost: Counter[tuple[str, ...]] = Counter()
        self._texts: Counter[tuple[str, ...]] = Counter()

    def emit(self, record: logging.LogRecord) -> None:
        """One line on stderr."""
        if record.msg in SUMMED:
            lost, texts, *about = cast(tuple[Any, ...], record.args)
            self._lost[record.msg, *about] += lost
            self._texts[record.msg, *about] += texts
        elif record.levelno >= logging.WARNING:
            tell(record.getMessage())

    def flush(self) -> None:
        """A line for each model that has cut texts, or could not read some."""
        for which, lost in (+self._lost).items():
            message, *about = which
            tell(message % (lost, self._texts[which], *about))
        self._lost.clear()
        self._texts.clear()


def tell(message: str) -> None:
    """One line on stderr."""
    print(f"paraform: {message}", file=sys.stderr)
