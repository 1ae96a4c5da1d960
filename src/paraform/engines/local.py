"""Worker processes on this machine."""

from __future__ import annotations

import contextlib
import os
import signal
import threading
from collections.abc import Iterator
from multiprocessing import connection as connections
from multiprocessing import get_context, parent_process, resource_tracker
from multiprocessing.connection import Connection
from multiprocessing.context import SpawnProcess
from typing import final

from paraform.engines.work import ONE_THREAD, Done, Ended, Killed, Opened, Work
from paraform.threads import cores

SECONDS_TO_EXIT = 5.0


@final
class Processes:
    """A crew of spawned processes: a fork would copy the locks of threads that it does not copy.

    No `concurrent.futures` pool: one dead worker breaks all of that, and nobody knows whose chunk it was.

    Args:
        workers: None: as many as this process may use cores.
    """

    def __init__(self, work: Work, workers: int | None) -> None:
        self.size = workers or cores()
        self._work = work
        self._context = get_context("spawn")
        self._processes: dict[Connection, SpawnProcess] = {}
        self._idle: list[Connection] = []
        self._busy: dict[Connection, int] = {}

    @property
    def idle(self) -> int:
        return self.size - len(self._busy)

    def begin(self, chunk: int) -> None:
        connection = self._idle.pop() if self._idle else self._start()
        self._busy[connection] = chunk
        with contextlib.suppress(OSError):  # it died while it was idle; `ended` will find that
            connection.send(chunk)

    def ended(self, *, wait: bool) -> Iterator[Ended]:
        for ready in connections.wait(list(self._busy), timeout=None if wait else 0):
            assert isinstance(ready, Connection)
            result = self._answer(ready)
            yield Ended(self._busy.pop(ready), result)
            if not isinstance(result, Killed):
                self._idle.append(ready)

    def close(self) -> None:
        """End all workers: those at a chunk at once."""
        for connection, process in self._processes.items():
            if connection in self._busy:
                process.kill()
            connection.close()  # which tells an idle one that nothing more comes
        for process in self._processes.values():
            process.join(SECONDS_TO_EXIT)
            process.kill()
            process.join()
        self._processes.clear()

    def _answer(self, connection: Connection) -> Done | Exception | Killed:
        try:
            answer: Done | Exception = connection.recv()
            return answer
        except (EOFError, OSError):
            process = self._processes.pop(connection)
            connection.close()
            process.join()
            code = process.exitcode or 0
            return Killed(signal.Signals(-code).name if code < 0 else f"exit status {code}")

    def _start(self) -> Connection:
        ours, theirs = self._context.Pipe()
        process = self._context.Process(target=_serve, args=(theirs,), daemon=True)
        with _environment(ONE_THREAD), _deaf_to_interrupts():
            process.start()
            self._processes[ours] = process
        theirs.close()  # else the end of the worker would not be the end of the pipe
        with contextlib.suppress(OSError):
            ours.send(self._work)
        return ours


def _serve(connection: Connection) -> None:
    """A worker's life: the work comes first, then chunk numbers, until the other end is closed."""
    threading.Thread(target=_follow_parent, daemon=True).start()
    with contextlib.suppress(EOFError, BrokenPipeError):
        try:
            compute = Opened(connection.recv())
        except EOFError:
            raise
        except Exception as error:  # its module can't be imported here
            connection.recv()
            _send(connection, error)
            return
        while True:
            chunk = connection.recv()
            try:
                result: Done | Exception = compute(chunk)
            except Exception as error:
                result = error
            _send(connection, result)


def _follow_parent() -> None:
    """Ends this process, in the middle of a chunk too, when its parent is killed."""
    if parent := parent_process():
        parent.join()
    os._exit(1)


def _send(connection: Connection, result: Done | Exception) -> None:
    try:
        connection.send(result)
    except OSError:
        raise
    except Exception as error:  # an exception that holds what cannot be sent
        connection.send(RuntimeError(f"{type(result).__name__}: {result!s} (not sent as it is: {error})"))


@contextlib.contextmanager
def _environment(variables: dict[str, str]) -> Iterator[None]:
    """Set for processes that start in this block: libraries read them when they are imported."""
    before = {name: os.environ.get(name) for name in variables}
    os.environ.update(variables)
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value


@contextlib.contextmanager
def _deaf_to_interrupts() -> Iterator[None]:
    """What starts in this block does not hear Ctrl-C, which a terminal sends to all: its parent ends it."""
    resource_tracker.ensure_running()  # which starts with the first process otherwise, and then unblocks the signal
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
