"""What engines run, and how a worker process holds it."""

from __future__ import annotations

import copy
import logging
import traceback
from collections.abc import Callable
from typing import Any, NamedTuple, Protocol, final

# A sum over several threads may round otherwise than over one, so a worker has one: then a chunk's result is the same
# in each, and as many workers as cores keep all cores busy.
ONE_THREAD = dict.fromkeys(("OMP_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS", "RAYON_NUM_THREADS"), "1")


class Work(Protocol):
    """What is to be done for every chunk: a frozen dataclass at the top level of a module that workers can import."""

    def open(self) -> Callable[[int], bytes]:
        """Load what is needed, once in each worker process.

        Returns: what makes a chunk's result of its number, and of nothing else, so that it is the same in any worker.
        """
        ...


class Done(NamedTuple):
    """A chunk's result, and what was logged over it: level, message and arguments, for the logger "paraform"."""

    result: bytes
    logged: tuple[tuple[int, str, Any], ...]


class Killed(NamedTuple):
    """Instead of a result: the worker died over the chunk."""

    how: str


class Ended(NamedTuple):
    """A chunk that a worker has done with; `result` may be the exception that the work raised."""

    chunk: int
    result: Done | Exception | Killed


@final
class Opened:
    """The work in a worker process: opened with the first chunk, so that its errors come as that chunk's."""

    def __init__(self, work: Work) -> None:
        self._work = work
        self._compute: Callable[[int], bytes] | None = None

    def __call__(self, chunk: int) -> Done:
        """The chunk's result; an exception takes along, as a note, where it was raised."""
        logger, heard = logging.getLogger("paraform"), _Heard()
        logger.addHandler(heard)
        logger.setLevel(logging.INFO)
        try:
            if self._compute is None:
                self._compute = self._work.open()
            return Done(self._compute(chunk), tuple(heard.records))
        except Exception as error:  # whatever the work says: it is told where, and goes on
            error.add_note(f"raised in a worker, in chunk {chunk}:\n{traceback.format_exc().rstrip()}")
            try:
                copy.copy(error)  # made again of its arguments, as after a way between processes
            except Exception:  # whatever its constructor says of these arguments
                raise RuntimeError(f"{type(error).__name__}: {error}") from error
            raise
        finally:
            logger.removeHandler(heard)


class _Heard(logging.Handler):
    """What was logged, so that it is said where somebody sums it up, and not by each worker."""

    def __init__(self) -> None:
        super().__init__()
        self.records: list[tuple[int, str, Any]] = []

    def emit(self, record: logging.LogRecord) -> None:
        """Keep it; arguments that are no numbers as they are printed."""
        given = record.args if isinstance(record.args, tuple) else ()
        message = record.msg if given else record.getMessage()
        self.records.append((record.levelno, str(message), tuple(a if isinstance(a, int) else str(a) for a in given)))
