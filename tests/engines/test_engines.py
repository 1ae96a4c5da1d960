"""Engines: the same bytes from each, in order; a killed worker costs a retry; nothing is left behind."""

from __future__ import annotations

import contextlib
import importlib.util
import logging
import multiprocessing
import os
import signal
import subprocess
import sys
import time
import types
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psutil
import pytest

from paraform.engines import Engine, rows_of, run
from paraform.records import InputError

WORK = Path(__file__).parent / "engine_work.py"
spec = importlib.util.spec_from_file_location("engine_work", WORK)
engine_work = importlib.util.module_from_spec(spec)
sys.modules["engine_work"] = engine_work
spec.loader.exec_module(engine_work)
Toy = engine_work.Toy

LOCAL = [Engine("local", 1), Engine("local", 2)]
RAY = [Engine("ray", 1), Engine("ray", 2)]


@pytest.fixture(scope="module", autouse=True)
def importable() -> Iterator[None]:
    """Worker processes can import `engine_work`."""
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(WORK.parent))
        patch.setenv("PYTHONPATH", str(WORK.parent), prepend=os.pathsep)
        yield


@pytest.fixture(scope="module")
def cluster(importable: None) -> Iterator[str]:
    """The address of a Ray cluster of two cores on this machine, to which this process is connected."""
    pytest.importorskip("ray")
    from paraform.engines.ray import connected, ray

    with connected("local", 2):
        yield ray.get_runtime_context().gcs_address


@pytest.fixture(params=[*LOCAL, *RAY], ids=lambda engine: f"{engine.name}-{engine.workers}")
def engine(request: pytest.FixtureRequest) -> Engine:
    if request.param.name == "ray":
        request.getfixturevalue("cluster")
    return request.param


@pytest.fixture(params=[LOCAL[1], RAY[1]], ids=lambda engine: engine.name)
def two(request: pytest.FixtureRequest) -> Engine:
    """Two workers of each engine."""
    if request.param.name == "ray":
        request.getfixturevalue("cluster")
    return request.param


def expected(count: int) -> list[bytes]:
    return [b"%d %d\n" % (chunk, chunk**2) for chunk in range(count)]


def test_the_same_bytes_whatever_does_it(engine: Engine, tmp_path: Path) -> None:
    assert list(run(Toy(str(tmp_path)), 20, engine=engine)) == expected(20)
    assert len(list(tmp_path.glob("opened-*"))) <= engine.workers
    assert multiprocessing.active_children() == []


def test_a_late_chunk_holds_its_place_and_the_others_back(two: Engine, tmp_path: Path) -> None:
    """Chunk 0 ends after chunk 7, the last of the 4 × 2 that may be begun before it is taken."""
    assert list(run(Toy(str(tmp_path), late=7), 20, engine=two)) == [b"after 8\n", *expected(20)[1:]]


def test_a_killed_worker_costs_a_retry(two: Engine, tmp_path: Path) -> None:
    assert list(run(Toy(str(tmp_path), deadly=3), 8, engine=two)) == expected(8)
    assert len(list(tmp_path.glob("begun-3-*"))) == 2
    assert len(list(tmp_path.glob("begun-*"))) == 9  # the other worker's chunks were left alone


def test_a_chunk_that_kills_every_worker_is_named(two: Engine, tmp_path: Path) -> None:
    results = run(Toy(str(tmp_path), deadly=1, deaths=9), 3, engine=two)
    assert next(results) == expected(1)[0]
    with pytest.raises(InputError, match=r"^chunk 1: 3 workers died over it, the last of \w+; if memory ran out, use"):
        next(results)
    assert len(list(tmp_path.glob("begun-1-*"))) == 3


def test_an_error_of_the_work_comes_as_it_is(two: Engine, tmp_path: Path) -> None:
    results = run(Toy(str(tmp_path), bad=2), 9, engine=two)
    assert [next(results), next(results)] == expected(2)
    with pytest.raises(InputError) as raised:
        next(results)
    assert str(raised.value) == "corpus.tsv:2: one column; expected 2"
    assert type(raised.value) is InputError and "engine_work.py" in raised.value.__notes__[0]
    assert multiprocessing.active_children() == []


@pytest.mark.parametrize(
    ("kind", "error", "message"),
    [
        ("eof", EOFError, "the model's file is cut"),  # what a closed pipe raises, too
        ("contrary", RuntimeError, "Contrary: ab"),
        ("file", RuntimeError, "ValueError: with a file in it"),
    ],
)
def test_an_error_that_cannot_travel_is_told(kind: str, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        next(run(engine_work.Failing(kind), 1, engine=LOCAL[0]))


def test_work_that_workers_cannot_import_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    nowhere = types.ModuleType("nowhere")
    nowhere.Work = type("Work", (), {"__module__": "nowhere"})
    monkeypatch.setitem(sys.modules, "nowhere", nowhere)
    with pytest.raises(ModuleNotFoundError, match="nowhere"):
        next(run(nowhere.Work(), 1, engine=LOCAL[0]))


def test_nothing_starts_for_no_chunks(tmp_path: Path) -> None:
    assert list(run(Toy(str(tmp_path)), 0)) == []
    assert list(run(Toy(str(tmp_path)), 0, engine=Engine("ray", address="127.0.0.1:1"))) == []
    assert list(tmp_path.iterdir()) == []


def test_closing_the_results_ends_the_workers(tmp_path: Path) -> None:
    results = run(Toy(str(tmp_path)), 1000, engine=LOCAL[1])
    assert next(results) == expected(1)[0]
    assert multiprocessing.active_children()
    results.close()
    assert multiprocessing.active_children() == []
    assert len(list(tmp_path.glob("begun-*"))) < 20


def test_a_worker_has_one_thread(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OMP_NUM_THREADS", "7")
    monkeypatch.delenv("LRU_CACHE_CAPACITY", raising=False)
    assert list(run(engine_work.Threads(), 2)) == [b"1 float32 -", b"1 float32 -"]
    assert os.environ["OMP_NUM_THREADS"] == "7"


def test_workers_multiply_what_their_driver_does(two: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    """Those of a cluster, too, that began with another setting; and they keep as little of shapes."""
    monkeypatch.setenv("PARAFORM_PRODUCTS", "bfloat16")
    monkeypatch.setenv("LRU_CACHE_CAPACITY", "16")
    assert list(run(engine_work.Threads(), 1, engine=two)) == [b"1 bfloat16 16"]


def test_the_bar_is_for_terminals(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    list(run(Toy(str(tmp_path)), 2, engine=LOCAL[0], progress="annotating"))
    assert capfd.readouterr() == ("", "")
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setattr("paraform.progress.is_watched", lambda: True)
    list(run(Toy(str(tmp_path)), 2, engine=LOCAL[0], progress="annotating"))
    out, err = capfd.readouterr()
    assert out == "" and "annotating" in err


def test_what_workers_log_is_logged_here(
    tmp_path: Path, engine: Engine, caplog: pytest.LogCaptureFixture, capfd: pytest.CaptureFixture[str]
) -> None:
    caplog.set_level(logging.INFO, "paraform")
    assert list(run(Toy(str(tmp_path), logs=True), 2, engine=engine)) == list(run(Toy(str(tmp_path)), 2, engine=engine))
    assert [record.args for record in caplog.records] == [(0, 2, "ends"), (1, 2, "ends")]
    assert caplog.messages == ["0 of 2 texts are cut at ends", "1 of 2 texts are cut at ends"]
    assert "texts are cut" not in capfd.readouterr().err


@dataclass
class Command:
    """engine_work.py in a session of its own, so that a signal reaches it and its workers, as from a terminal."""

    process: subprocess.Popen[str]
    folder: Path

    def workers(self) -> list[psutil.Process]:
        """Those at a chunk."""
        numbers = {int(path.name.split("-")[2]) for path in self.folder.glob("begun-*")}
        return [psutil.Process(number) for number in numbers if psutil.pid_exists(number)]


@pytest.fixture
def command(tmp_path: Path) -> Iterator[Callable[..., Command]]:
    started = []

    def start(*arguments: str, **variables: str) -> Command:
        line = [sys.executable, str(WORK), str(tmp_path), *arguments]
        pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
        started.append(subprocess.Popen(line, env=os.environ | variables, start_new_session=True, **pipes))
        return Command(started[-1], tmp_path)

    yield start
    for process in started:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.communicate()


def wait_for(what: Callable[[], bool], seconds: float = 120) -> bool:
    end = time.monotonic() + seconds
    while not what() and time.monotonic() < end:
        time.sleep(0.02)
    return what()


def gone(process: psutil.Process) -> bool:
    """Dead; a zombie, which waits for whoever adopted it, is."""
    with contextlib.suppress(psutil.NoSuchProcess):
        return process.status() == psutil.STATUS_ZOMBIE
    return True


@pytest.mark.parametrize(
    ("number", "status"), [(signal.SIGINT, 130), (signal.SIGTERM, -signal.SIGTERM), (signal.SIGKILL, -signal.SIGKILL)]
)
def test_a_signal_leaves_no_process(number: signal.Signals, status: int, command: Callable[..., Command]) -> None:
    """Ctrl-C reaches workers as well, which must not say a word; the others reach the parent alone."""
    running = command("5", "local", "2", "--endless")
    assert wait_for(lambda: len(running.workers()) == 2)
    workers = running.workers()
    (os.killpg if number == signal.SIGINT else os.kill)(running.process.pid, number)
    assert running.process.communicate(timeout=10) == ("", "")
    assert running.process.returncode == status
    assert wait_for(lambda: all(map(gone, workers)), 10)


def test_a_driver_of_an_existing_cluster(cluster: str, command: Callable[..., Command]) -> None:
    """It finds it by RAY_ADDRESS; of a worker's death, which Ray tells on stdout, nothing is to be seen."""
    running = command("6", "ray", "2", "--deadly", "2", RAY_ADDRESS=cluster)
    out, err = running.process.communicate(timeout=60)
    assert (running.process.returncode, out) == (0, b"".join(expected(6)).decode())
    assert "Traceback" not in err


def test_ctrl_c_leaves_no_actor(cluster: str, command: Callable[..., Command]) -> None:
    running = command("5", "ray", "2", cluster, "--endless")
    assert wait_for(lambda: len(running.workers()) == 2)
    workers = running.workers()
    os.killpg(running.process.pid, signal.SIGINT)
    out, err = running.process.communicate(timeout=20)
    assert (running.process.returncode, out) == (130, "")
    assert "Traceback" not in err
    assert wait_for(lambda: all(map(gone, workers)), 10)


def test_a_cluster_that_is_not_there(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    ray = pytest.importorskip("ray")
    monkeypatch.setattr(ray, "is_initialized", lambda: False)
    message = r"^no Ray cluster at '127\.0\.0\.1:1' \(.*refused\); start a cluster with: ray start --head$"
    with pytest.raises(InputError, match=message):
        next(run(Toy(str(tmp_path)), 1, engine=Engine("ray", address="127.0.0.1:1")))


def test_which_cluster_is_joined_or_started(monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("ray")
    from paraform.engines import ray as engine

    began: list[str] = []
    runs: list[bool] = []

    def init(address: str, **_: Any) -> None:
        began.append(address)
        if address == "auto" and not runs[-1]:
            raise ConnectionError("Could not find any running Ray instance. Please specify …")

    monkeypatch.setattr(engine.ray, "is_initialized", lambda: False)
    monkeypatch.setattr(engine.ray, "init", init)
    monkeypatch.setattr(engine.ray, "shutdown", lambda: None)
    monkeypatch.setattr(engine.ray, "get_runtime_context", lambda: types.SimpleNamespace(gcs_address="10.0.0.1:6379"))
    monkeypatch.delenv("RAY_ADDRESS", raising=False)
    for running, address, tried, said in [
        (True, None, ["auto"], "paraform: joins the Ray cluster at 10.0.0.1:6379, which runs here"),
        (True, "auto", ["auto"], "paraform: joins the Ray cluster at 10.0.0.1:6379, which runs here"),
        (False, None, ["auto", "local"], "paraform: no Ray cluster runs here; started one of 3 cores"),
        (False, "local", ["local"], ""),
    ]:
        began.clear()
        runs.append(running)
        with engine.connected(address, 3):
            pass
        err = capfd.readouterr().err
        assert began == tried and err.startswith(said) and err.count("\n") == bool(said)
    with pytest.raises(InputError, match="no Ray cluster at 'auto'"), engine.connected("auto", 3):
        pass


def test_what_ray_writes_while_it_fails_to_connect_is_no_more_than_the_reason(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    pytest.importorskip("ray")
    from paraform.engines import ray as engine

    def init(address: str, **_: Any) -> None:
        for _ in range(20):
            os.write(2, b"[2026] gcs_client.cc: Failed: RPC error: Authentication token is missing\n")
        raise ConnectionError("Failed to connect")

    monkeypatch.setattr(engine.ray, "is_initialized", lambda: False)
    monkeypatch.setattr(engine.ray, "init", init)
    message = r"^no Ray cluster at 'auto' \(Failed to connect: Authentication token is missing\); start a cluster"
    with pytest.raises(InputError, match=message), engine.connected("auto", 1):
        pass
    os.write(2, b"stderr is itself again\n")
    assert capfd.readouterr().err == "stderr is itself again\n"


def test_ray_that_is_not_installed(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setitem(sys.modules, "ray", None)
    monkeypatch.delitem(sys.modules, "paraform.engines.ray", raising=False)
    with pytest.raises(InputError, match=r"^engine 'ray' needs Ray; pip install 'paraform\[cluster\]'$"):
        next(run(Toy(str(tmp_path)), 1, engine=RAY[0]))


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"name": "spark"}, "engine 'spark'; expected 'local' or 'ray'"),
        ({"workers": 0}, "0 workers; expected at least 1"),
        ({"address": "127.0.0.1:6379"}, "address '127.0.0.1:6379' for engine 'local'; expected it with engine 'ray'"),
    ],
)
def test_an_engine_that_is_none(wrong: dict[str, object], message: str) -> None:
    with pytest.raises(InputError, match=message):
        Engine(**wrong)


def test_the_rows_of_chunks() -> None:
    assert [rows_of(chunk, 4, 10) for chunk in range(4)] == [(0, 4), (4, 8), (8, 10), (10, 10)]
    with pytest.raises(ValueError, match="-1 chunks"):
        run(Toy(""), -1)
