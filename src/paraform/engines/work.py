"""What engines run, and how a worker process holds it."""

from __future__ import annotations

import copy
import traceback
from collections.abc import Callable
from typing import NamedTuple, Protocol, final

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


class Killed(NamedTuple):
    """Instead of a result: the worker died over the chunk."""

    how: str


class Ended(NamedTuple):
    """A chunk that a worker has done with; `result` may be the exception that the work raised."""

    chunk: int
    result: bytes | Exception | Killed


@final
class Opened:
    """The work in a worker process: opened with the first chunk, so that its errors come as that chunk's."""

    def __init__(self, work: Work) -> None:
        self._work = work
        self._compute: Callable[[int], bytes] | None = None

    def __call__(self, chunk: int) -> bytes:
        """The chunk's result; an exception takes along, as a note, where it was raised."""
        try:
            if self._compute is None:
                self._compute = self._work.open()
            return self._compute(chunk)
        except Exception as error:
            error.add_note(f"raised in a worker, in chunk {chunk}:\n{traceback.format_exc().rstrip()}")
            try:
                copy.copy(error)  # made again of its arguments, as after a way between processes
            except Exception:
                raise RuntimeError(f"{type(error).__name__}: {error}") from error
            raise
