"""Work for the engines' tests, importable by worker processes, and a command that runs it.

    python engine_work.py FOLDER CHUNKS NAME WORKERS [ADDRESS] [--endless] [--deadly CHUNK]

It writes the results to stdout; Ctrl-C ends it with the status 130.
"""

from __future__ import annotations

import argparse
import logging
import os
import signal
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from paraform.engines import Engine, run
from paraform.records import InputError


@dataclass(frozen=True)
class Toy:
    """A chunk's result is its number and its square; meanwhile it does what the tests need.

    Args:
        folder: where each chunk leaves files begun-CHUNK-PROCESS and ended-CHUNK, and each `open` opened-PROCESS.
        late: chunk 0 ends after this one, and says how many others have begun by then.
        deadly, deaths: this chunk kills its worker so often.
        bad: this chunk raises an InputError.
        endless: chunks never end.
        logs: each chunk logs.
    """

    folder: str
    late: int = -1
    deadly: int = -1
    deaths: int = 1
    bad: int = -1
    endless: bool = False
    logs: bool = False

    def open(self) -> Callable[[int], bytes]:
        (Path(self.folder) / f"opened-{os.getpid()}").touch()
        return self.result

    def result(self, chunk: int) -> bytes:
        folder = Path(self.folder)
        (folder / f"begun-{chunk}-{os.getpid()}").touch()
        if chunk == self.deadly and len(list(folder.glob(f"begun-{chunk}-*"))) <= self.deaths:
            os.kill(os.getpid(), signal.SIGKILL)
        if chunk == self.bad:
            raise InputError(f"corpus.tsv:{chunk}: one column; expected 2")
        if self.logs:
            logging.getLogger("paraform").info("%s of %s texts are cut at %s", chunk, 2, Path("ends"))
        while self.endless:
            time.sleep(0.1)
        if chunk == 0 and self.late > 0:
            while not (folder / f"ended-{self.late}").exists():
                time.sleep(0.01)
            time.sleep(0.5)  # for others to begin, if they are let
            return b"after %d\n" % len(list(folder.glob("begun-*")))
        (folder / f"ended-{chunk}").touch()
        return b"%d %d\n" % (chunk, chunk * chunk)


@dataclass(frozen=True)
class Threads:
    """The number of threads that a worker's libraries are told to use, what they multiply, and a bound of memory."""

    def open(self) -> Callable[[int], bytes]:
        names = ("OMP_NUM_THREADS", "PARAFORM_PRODUCTS", "LRU_CACHE_CAPACITY")
        return lambda chunk: " ".join(os.environ.get(name, "-") for name in names).encode()


class Contrary(Exception):
    """It can be sent, but not be made again of what is sent."""

    def __init__(self, one: str, two: str) -> None:
        super().__init__(one + two)


@dataclass(frozen=True)
class Failing:
    """`open` raises an error of this kind."""

    kind: str

    def open(self) -> Callable[[int], bytes]:
        if self.kind == "eof":
            raise EOFError("the model's file is cut")
        if self.kind == "contrary":
            raise Contrary("a", "b")
        error = ValueError("with a file in it")
        error.file = sys.stderr
        raise error


if __name__ == "__main__":
    signal.signal(signal.SIGINT, signal.default_int_handler)  # what a shell runs in the background ignores Ctrl-C
    parser = argparse.ArgumentParser()
    parser.add_argument("folder")
    parser.add_argument("chunks", type=int)
    parser.add_argument("name", choices=["local", "ray"])
    parser.add_argument("workers", type=int)
    parser.add_argument("address", nargs="?")
    parser.add_argument("--endless", action="store_true")
    parser.add_argument("--deadly", type=int, default=-1)
    given = parser.parse_args()
    toy = Toy(given.folder, endless=given.endless, deadly=given.deadly)
    try:
        for result in run(toy, given.chunks, engine=Engine(given.name, given.workers, given.address)):
            sys.stdout.buffer.write(result)
    except KeyboardInterrupt:
        sys.exit(130)
