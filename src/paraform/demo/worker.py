"""One thread that computes in turn; so many wait for it, and no more."""

from __future__ import annotations

import logging
import queue
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from contextlib import contextmanager, suppress
from typing import Any, final

Answer = dict[str, Any]
Job = Callable[[], Answer]


class BusyError(Exception):
    """As many wait as may."""


@final
class Worker:
    """Does jobs in the order they came, each alone: models are not made for several threads.

    Args:
        most: jobs that may wait beside the one that is done, so that memory does not grow with who asks.
    """

    def __init__(self, most: int) -> None:
        self._jobs: queue.Queue[tuple[Job, Future[Answer]]] = queue.Queue(most)
        self._closed = threading.Event()
        # A daemon, so that Ctrl-C does not wait for what is being computed.
        self._thread = threading.Thread(target=self._work, name="paraform demo", daemon=True)
        self._thread.start()

    def ask(self, job: Job) -> Future[Answer]:
        """What will hold the job's answer, with `notes`, what the library warned of; cancelled, it is passed over.

        Raises: BusyError if too many wait.
        """
        future: Future[Answer] = Future()
        try:
            self._jobs.put_nowait((job, future))
        except queue.Full:
            raise BusyError from None
        return future

    def close(self) -> None:
        """Wait for the job that is done, and pass over those that wait."""
        self._closed.set()
        with suppress(queue.Full):
            self._jobs.put_nowait((dict, Future()))  # something to wake up for
        self._thread.join()

    def _work(self) -> None:
        while True:
            job, future = self._jobs.get()
            if self._closed.is_set():
                return
            if future.set_running_or_notify_cancel():
                try:
                    with _warnings() as notes:
                        answer = job()
                    future.set_result({**answer, "notes": notes})
                except BaseException as error:  # whatever it is, who asked is told, and the next one is served
                    future.set_exception(error)
            del job, future  # no answer outlives its request


@contextmanager
def _warnings() -> Iterator[list[str]]:
    """What the library warns of in the block: for who asked, and not for anyone's log."""
    found: list[str] = []

    def keep(record: logging.LogRecord) -> bool:
        # The command has counts come that it sums up, "0 of 7 texts are longer", which are no warning by themselves.
        if record.levelno >= logging.WARNING:
            found.append(record.getMessage())
        return False

    logger = logging.getLogger("paraform")
    logger.addFilter(keep)
    try:
        yield found
    finally:
        logger.removeFilter(keep)
