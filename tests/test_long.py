"""`tools/long.py`: what it starts it says, stops and goes on with, and it signals nobody else.

Its commands are those of a `paraform` of a few lines, which the commands find before ours.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

REPOSITORY = Path(__file__).resolve().parents[1]
COMMANDS = """
import pathlib, signal, sys, time
verb, runs = sys.argv[1], pathlib.Path(sys.argv[-1])
if verb == "long" and not (runs / "saved").exists():
    def save(*_):
        (runs / "saved").write_text("once")
        signal.signal(signal.SIGTERM, signal.SIG_DFL)  # a second one acts at once
        time.sleep(0.1)
        sys.exit(1)
    signal.signal(signal.SIGTERM, save)
    print("training", flush=True)
    time.sleep(60)
print(verb, "is done")
"""

Queue = Callable[..., str]


@pytest.fixture
def folder(tmp_path: Path) -> Iterator[Path]:
    """The queue's, whose processes are ended afterwards."""
    (tmp_path / "paraform").mkdir()
    (tmp_path / "paraform" / "__init__.py").touch()
    (tmp_path / "paraform" / "__main__.py").write_text(COMMANDS)
    (tmp_path / "list.txt").write_text("# two commands\nrecipe short --out {runs}\nlong --out {runs}\n")
    (tmp_path / "paraform_papers").mkdir()
    (tmp_path / "paraform_papers" / "__init__.py").touch()
    (tmp_path / "paraform_papers" / "short.py").write_text("import sys; print(*sys.argv[1:])\n")
    (tmp_path / "queue" / "runs").mkdir(parents=True)
    yield tmp_path / "queue"
    with (
        contextlib.suppress(ProcessLookupError, ValueError, FileNotFoundError),
        (tmp_path / "queue/pid").open() as lock,
    ):
        with contextlib.suppress(BlockingIOError):
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return
        os.killpg(int(lock.read()), signal.SIGKILL)


@pytest.fixture
def queue(folder: Path) -> Queue:
    """`queue("start")`: what the tool says."""

    def run(verb: str, status: int = 0) -> str:
        given = [
            verb,
            folder,
            "--list",
            folder.parent / "list.txt",
            "--nice",
            "0",
        ]  # at 19 a busy machine takes minutes
        command = [sys.executable, REPOSITORY / "tools/long.py", *given]
        paths = os.environ | {"PYTHONPATH": str(folder.parent)}
        done = subprocess.run(command, capture_output=True, text=True, env=paths, timeout=20)
        assert done.returncode == status, done
        return done.stdout + done.stderr

    return run


def until(true: Callable[[], object]) -> None:
    end = time.monotonic() + 20
    while not true():
        assert time.monotonic() < end
        time.sleep(0.02)


def trains(folder: Path) -> Callable[[], bool]:
    return lambda: (folder / "long.log").exists() and (folder / "long.log").read_text().endswith("training\n")


def test_a_queue_is_started_stopped_and_gone_on_with(folder: Path, queue: Queue) -> None:
    queue("start")
    until(trains(folder))
    said = queue("status")
    assert "done  recipe short" in said and "begun long" in said and said.endswith("\nrunning\n")
    assert queue("start", status=1) == "it runs already\n"
    queue("stop")  # returns when all is saved
    assert (folder / "runs" / "saved").read_text() == "once" and queue("status").endswith("not running\n")
    assert (folder / "queue.log").read_text().splitlines()[-1].endswith(" 1 long --out {runs}")
    queue("start")
    until(lambda: (folder / "done.txt").read_text().endswith("long --out {runs}\n"))
    until(lambda: queue("status").endswith("not running\n"))
    assert (folder / "done.txt").read_text() == "recipe short --out {runs}\nlong --out {runs}\n"
    assert (folder / "recipe_short.log").read_text().count("---") == 1  # what is done is not begun again
    queue("stop")  # of a queue that does not run


def test_stop_reaches_a_child_whose_queue_was_killed(folder: Path, queue: Queue) -> None:
    queue("start")
    until(trains(folder))
    os.kill(int((folder / "pid").read_text()), signal.SIGKILL)
    assert queue("status").endswith("\nrunning\n") and queue("start", status=1) == "it runs already\n"
    queue("stop")
    assert (folder / "runs" / "saved").exists() and queue("status").endswith("not running\n")


def test_stop_signals_no_stranger(folder: Path, queue: Queue) -> None:
    """The file holds the number of a process that now is another's, or none yet, and someone looks at the queue."""
    with subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE, start_new_session=True) as stranger:
        (folder / "pid").write_text(f"{stranger.pid}\n")
        assert queue("status").endswith("not running\n")
        with (folder / "pid").open("a+") as looks:
            fcntl.flock(looks, fcntl.LOCK_EX)
            assert "try again" in queue("stop", status=1)
        stranger.communicate(b"\n")
        assert stranger.returncode == 0
