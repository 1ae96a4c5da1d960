"""The way in: work, a number of chunks and an engine; out come the chunks' results."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractContextManager, closing, contextmanager
from dataclasses import dataclass
from typing import Literal

from paraform.engines.local import Processes
from paraform.engines.order import Crew, in_order
from paraform.engines.work import Work
from paraform.progress import track
from paraform.records import InputError


@dataclass(frozen=True)
class Engine:
    """Where work runs; results do not depend on it.

    Args:
        name: "local", processes on this machine; or "ray", a Ray cluster whose machines have the same paraform.
        workers: how many processes, each with one thread; None: as many as there are cores.
        address: HOST:PORT of the Ray cluster; "auto": the one that runs here; "local" starts one on this machine; None:
            RAY_ADDRESS, else the one that runs here, else one that is started.
    Raises: InputError if it is none of these.
    """

    name: Literal["local", "ray"] = "local"
    workers: int | None = None
    address: str | None = None

    def __post_init__(self) -> None:
        if self.name not in ("local", "ray"):
            raise InputError(f"engine {self.name!r}; expected 'local' or 'ray'")
        if self.workers is not None and self.workers < 1:
            raise InputError(f"{self.workers} workers; expected at least 1")
        if self.address is not None and self.name != "ray":
            raise InputError(f"address {self.address!r} for engine {self.name!r}; expected it with engine 'ray' only")


LOCAL = Engine()


def run(work: Work, count: int, *, engine: Engine = LOCAL, progress: str | None = None) -> Iterator[bytes]:
    """The results of chunks 0 … count − 1, in that order, while later ones are computed.

    A worker that is killed costs a retry. Workers end with the iterator: when it is exhausted, closed or interrupted,
    or has raised. A worker on this machine also ends when this process does. At most four chunks a worker are begun and
    not taken. The main module of a program that calls this with the engine "local" must do nothing when it is imported,
    since each worker does that (`if __name__ == "__main__":`).

    Args:
        work: an instance of a frozen dataclass, which is sent to the workers.
        progress: what stderr is told is done; None: nothing.
    Raises: what the work raised for the first chunk that failed; InputError for a chunk over which three workers died,
        or if there is no such cluster, or no Ray.
    """
    if count < 0:
        raise ValueError(f"{count} chunks; expected 0 or more")
    return _results(work, count, engine, progress) if count else iter(())


def rows_of(chunk: int, size: int, count: int) -> tuple[int, int]:
    """The first row of a chunk and the row after its last, of `count` rows in chunks of `size`."""
    return min(chunk * size, count), min((chunk + 1) * size, count)


@contextmanager
def kept_open(engine: Engine) -> Iterator[None]:
    """What `run` does in the block with this engine is on one connection to its cluster, or on one that it starts."""
    if engine.name == "local":
        yield
        return
    from paraform.engines.ray import connected  # Ray is an extra

    with connected(engine.address, engine.workers):
        yield


def _results(work: Work, count: int, engine: Engine, progress: str | None) -> Iterator[bytes]:
    with _crew(work, count, engine) as crew:
        yield from track(in_order(crew, count), progress or "", show=progress is not None, total=count)


def _crew(work: Work, count: int, engine: Engine) -> AbstractContextManager[Crew]:
    if engine.name == "local":
        return closing(Processes(work, engine.workers))
    from paraform.engines.ray import actors  # Ray is an extra

    return actors(work, engine.workers, engine.address, most=count)
