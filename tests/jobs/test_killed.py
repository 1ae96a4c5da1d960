"""Workers and drivers that are killed in the middle: whatever dies, the bytes are those of one process."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

import psutil
import pytest

Command = Callable[..., Any]

TEXTS = [f"Can I use my {word} abroad?" for word in ("card", "phone", "car", "bike", "ticket", "coat", "watch", "pen")]
SMALL = {"paraform.jobs.setting": ("SHARD", 2), "paraform.cli.augment": ("PART", 1)}
RUN = f"""
import sys
from importlib import import_module
for module, (name, value) in {SMALL!r}.items():
    setattr(import_module(module), name, value)
sys.exit(import_module("paraform.cli").main(sys.argv[1:]))
"""
FILES = [f"{number:06d}.csv" for number in range(4)]


@pytest.fixture(autouse=True)
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    """Shards of two rows, made one by one."""
    for module, (name, value) in SMALL.items():
        monkeypatch.setattr(import_module(module), name, value)


@pytest.fixture(scope="module")
def cluster() -> Iterator[None]:
    """A Ray cluster of two cores on this machine."""
    pytest.importorskip("ray")
    from paraform.engines.ray import connected

    with connected("local", 2):
        yield


@pytest.fixture
def table(tmp_path: Path) -> Path:
    (tmp_path / "a.csv").write_text("text\n" + "".join(f"{text}\n" for text in TEXTS))
    return tmp_path / "a.csv"


def shards(folder: Path) -> list[bytes]:
    return [(folder / name).read_bytes() for name in FILES]


def rows_of_one_process(table: Path, command: Command) -> list[bytes]:
    """The file that one process makes, cut where the shards are."""
    out = table.with_name("one.csv")
    assert command("augment", table, "--out", out).status == 0
    header, *rows = out.read_bytes().splitlines(keepends=True)
    cut = [number for number, row in enumerate(rows) if row.rstrip().endswith(b",")][::2]  # a row, not a rewording
    ends = zip(cut, [*cut[1:], len(rows)], strict=True)
    return [header + b"".join(rows[first:last]) for first, last in ends]


def workers() -> list[psutil.Process]:
    """Those of this process, at work or about to be."""
    found = []
    for process in psutil.Process().children(recursive=True):
        with contextlib.suppress(psutil.Error):
            line = " ".join(process.cmdline())
            if "spawn_main" in line or line.startswith("ray::Worker"):
                found.append(process)
    return found


class Killer(threading.Thread):
    """Kills a worker each time that another shard has come."""

    def __init__(self, folder: Path) -> None:
        super().__init__(daemon=True)
        self.folder, self.kills, self.over = folder, 0, False

    def run(self) -> None:
        while not self.over:
            if sum((self.folder / name).is_file() for name in FILES) > self.kills and (found := workers()):
                with contextlib.suppress(psutil.NoSuchProcess):
                    found[self.kills % len(found)].kill()
                    self.kills += 1
            time.sleep(0.01)


@pytest.mark.parametrize("given", [("local", 1), ("local", 2), ("ray", 2)], ids=lambda given: f"{given[0]}-{given[1]}")
def test_killed_workers_cost_no_row(
    given: tuple[str, int], table: Path, command: Command, request: pytest.FixtureRequest
) -> None:
    engine, count = given
    if engine == "ray":
        request.getfixturevalue("cluster")
    killer = Killer(table.with_name("shards"))
    killer.start()
    try:
        done = command("augment", table, "--out", killer.folder, "--engine", engine, "--workers", count)
    finally:
        killer.over = True
        killer.join()
    assert done.status == 0 and done.err.startswith("paraform: 8 rows, "), done.err
    assert killer.kills >= 2 and shards(killer.folder) == rows_of_one_process(table, command)
    assert sorted(path.name for path in killer.folder.iterdir() if path.suffix != ".counts") == [*FILES, "shards.json"]


def test_a_killed_driver_is_gone_on_with(table: Path, command: Command, inline: None) -> None:
    """The second call makes what is missing, and leaves alone what is there."""
    folder = table.with_name("shards")
    given = ["augment", str(table), "--out", str(folder), "--workers", "1"]
    with subprocess.Popen([sys.executable, "-c", RUN, *given], stderr=subprocess.DEVNULL, env=os.environ) as running:
        while running.poll() is None and not (folder / FILES[0]).is_file():
            time.sleep(0.01)
        children = psutil.Process(running.pid).children() if running.poll() is None else []
        running.send_signal(signal.SIGKILL)
    psutil.wait_procs(children, 30)
    there = {path: path.stat().st_mtime_ns for path in map(folder.joinpath, FILES) if path.is_file()}
    assert there
    done = command(*given)
    assert done.status == 0 and done.err.startswith("paraform: 8 rows, ")
    assert shards(folder) == rows_of_one_process(table, command)
    assert {path: path.stat().st_mtime_ns for path in there} == there


def test_the_same_bytes_by_ray(table: Path, command: Command, cluster: None, inline: None) -> None:
    """Of what workers write themselves; a worker here, and one of a cluster."""
    texts = table.with_name("texts.txt")
    texts.write_text("".join(f"{text}\n" for text in TEXTS[:3]))
    pairs = table.with_name("pairs.tsv")
    pairs.write_text("".join(f"{text}\tMay I?\n" for text in TEXTS[:3]))
    for given in (["paraphrase", texts], ["same", pairs, "--model", "minilm-judge"]):
        made = []
        for engine in ("here", "ray"):
            folder = table.with_name(f"{given[0]}-{engine}")
            with pytest.MonkeyPatch.context() as patch:
                if engine == "ray":
                    from paraform.engines import run

                    patch.setattr("paraform.engines.shards.run", run)
                more = ["--engine", "ray", "--workers", 1] if engine == "ray" else []
                assert command(*given, "--out", folder, *more).status == 0
            made.append({path.name: path.read_bytes() for path in folder.iterdir()})
        assert made[0] == made[1] and len(made[0]) == 5
