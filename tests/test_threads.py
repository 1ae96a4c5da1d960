"""How many threads compute; models in several threads, after a fork, and in another process."""

from __future__ import annotations

import multiprocessing
import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

import paraform
from paraform import threads
from paraform.cli import main
from paraform.threads import cores, idle_cores, in_threads, loads_alone, settle

TEXTS = ["Can I use my card abroad?", "Where is the bank?"]


def test_one_thread_is_inside_at_a_time() -> None:
    inside, most = 0, 0

    @loads_alone
    def load() -> None:
        nonlocal inside, most
        inside, most = inside + 1, max(most, inside + 1)
        time.sleep(0.01)
        inside -= 1

    started = [threading.Thread(target=load) for _ in range(4)]
    for step in (threading.Thread.start, threading.Thread.join):
        for thread in started:
            step(thread)
    assert most == 1


def test_threads_that_load_at_once_all_have_their_model() -> None:
    """In a process of its own, where nothing is imported yet."""
    program = """
import threading, paraform
names, found, start = ["minilm-par", "minilm"] * 2, [], threading.Barrier(4)
def load(name):
    start.wait()
    found.append(paraform.load(name, device="cpu").embed(["a b"]).shape[0])
threads = [threading.Thread(target=load, args=[name]) for name in names]
for step in (threading.Thread.start, threading.Thread.join):
    for thread in threads:
        step(thread)
assert found == [1] * 4, found
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")
def test_a_forked_child_computes() -> None:
    program = """
import os, signal, numpy, paraform
model = paraform.load("minilm", device="cpu")
texts = [f"sentence number {number}" for number in range(99)]
before = model.encode(texts)
child = os.fork()
if child == 0:
    signal.alarm(60)
    os._exit(int(not numpy.allclose(model.encode(texts), before, atol=1e-5)))
raise SystemExit(os.waitpid(child, 0)[1])
"""
    subprocess.run([sys.executable, "-c", program], check=True, stderr=subprocess.DEVNULL)


def vectors(model: Any) -> Any:
    return model.embed(TEXTS)


def used(name: str) -> Any:
    model = paraform.load(name, device="cpu")
    if name == "compact":
        paraform.reword(TEXTS[:1], model=model)
    return model


def test_a_loaded_model_can_be_sent_to_another_process() -> None:
    models = [used(name) for name in ("compact", "minilm-par")]
    expected = [vectors(model) for model in models]
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        found = pool.map(vectors, models)
    for one, other in zip(found, expected, strict=True):
        np.testing.assert_allclose(one, other, atol=1e-5)


@pytest.mark.parametrize("call", [paraform.reword, paraform.duplicates, lambda texts: used("minilm").encode(texts)])
def test_names_are_not_taken_for_texts(call: Callable[[Any], Any]) -> None:
    class DataFrame:
        columns = ("id", "text")

        def __iter__(self) -> Any:
            return iter(self.columns)

    for wrong, said in (
        (DataFrame(), r"texts of type DataFrame, whose names would be taken; write dataframe\[NAME\], of 'id', 'text'"),
        ({"a": "b"}, r"texts of type dict, whose names would be taken; write texts.values\(\)"),
        ({"a", "b"}, r"texts of type set, which have no order; write sorted\(texts\)"),
    ):
        with pytest.raises(paraform.InputError, match=said):
            call(wrong)


@pytest.fixture
def eight(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Eight cores, all this process's, as many threads of torch, and nothing settled yet."""
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: set(range(8)), raising=False)
    monkeypatch.setattr(os, "cpu_count", lambda: 8)
    for name in threads.ASKED:
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(threads, "_settled", False)
    before = torch.get_num_threads()
    torch.set_num_threads(8)
    yield
    torch.set_num_threads(before)


@pytest.mark.parametrize(
    ("own", "files", "expected"),
    [
        ("0::/\n", {}, 8),  # no quota anywhere
        ("0::/\n", {"cpu.max": "max 100000\n"}, 8),
        ("0::/\n", {"cpu.max": "250000 100000\n"}, 3),  # two and a half cores: three threads
        ("0::/\n", {"cpu.max": "50000 100000\n"}, 1),
        ("0::/\n", {"cpu.max": "6400000 100000\n"}, 8),  # more than there are
        ("0::/a/b\n", {"a/b/cpu.max": "max 100000\n", "a/cpu.max": "400000 100000\n"}, 4),  # of the group above
        ("0::/outside/the/container\n", {"cpu.max": "200000 100000\n"}, 2),
        ("3:cpuset:/\n1:cpu,cpuacct:/\n", {"cpu/cpu.cfs_quota_us": "-1\n", "cpu/cpu.cfs_period_us": "100000\n"}, 8),
        (
            "2:memory:/m\n1:cpu,cpuacct:/docker/7\n0::/\n",
            {"cpu/docker/7/cpu.cfs_quota_us": "150000\n", "cpu/docker/7/cpu.cfs_period_us": "50000\n"},
            3,
        ),
        ("1:cpu:/elsewhere\n", {"cpu/cpu.cfs_quota_us": "300000\n", "cpu/cpu.cfs_period_us": "50000\n"}, 6),
        ("0::/\n", {"cpu.max": "nonsense\n"}, 8),
        (None, {"cpu.max": "200000 100000\n"}, 8),  # a system without control groups
    ],
)
def test_cores_are_those_that_the_quota_pays_for(
    own: str | None, files: dict[str, str], expected: int, eight: None, tmp_path: Path
) -> None:
    for name, content in (files | ({} if own is None else {"own": own})).items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(content)
    assert cores(tmp_path, tmp_path / "own") == expected


def test_cores_where_processes_are_not_bound(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: {0, 5, 7}, raising=False)
    assert cores(tmp_path, tmp_path) == 3
    monkeypatch.delattr(os, "sched_getaffinity")
    monkeypatch.setattr(os, "cpu_count", lambda: None)
    assert cores(tmp_path, tmp_path) == 1


@pytest.mark.parametrize(
    ("load", "own_load", "may_use", "expected"),
    [
        (0.0, 0.0, 8, 8),
        (2.0, 0.0, 8, 6),
        (2.4, 0.0, 8, 6),  # less than half of a core is no core
        (2.6, 0.0, 8, 5),
        (3.0, 1.0, 8, 6),  # one of them was this process
        (0.5, 4.0, 8, 8),
        (4.0, 0.0, 3, 3),  # bound to three of eight, of which four are idle
        (6.0, 0.0, 3, 2),
        (50.0, 0.0, 8, 1),
    ],
)
def test_what_others_keep_busy_is_left_to_them(
    load: float, own_load: float, may_use: int, expected: int, eight: None
) -> None:
    assert idle_cores(load, own_load, may_use) == expected


def test_a_system_that_tells_no_load(eight: None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr(os, "getloadavg", raising=False)
    assert idle_cores(may_use=7) == 7


def test_the_own_share_of_the_load(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(time, "process_time", lambda: 30.0)
    assert 0 < threads._own_load() <= 0.5  # of a minute, or of a longer life


def test_the_number_is_settled_once(eight: None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(threads, "idle_cores", lambda: 5)
    settle()
    assert torch.get_num_threads() == 5
    monkeypatch.setattr(threads, "idle_cores", lambda: 2)
    torch.set_num_threads(8)
    settle()
    assert torch.get_num_threads() == 8


def test_never_more_than_torch_takes_by_itself(eight: None, monkeypatch: pytest.MonkeyPatch) -> None:
    """With MKL it takes a thread for two hyperthreads."""
    monkeypatch.setattr(threads, "_whole_cores", lambda: 4)
    monkeypatch.setattr(threads, "idle_cores", lambda: 6)
    torch.set_num_threads(4)
    settle()
    assert torch.get_num_threads() == 4


def test_what_was_set_stays(eight: None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(threads, "idle_cores", lambda: 2)
    for name in threads.ASKED:
        with monkeypatch.context() as patch:
            patch.setattr(threads, "_settled", False)
            patch.setenv(name, "8")
            settle()
            assert torch.get_num_threads() == 8
    torch.set_num_threads(3)  # by the program
    settle()
    assert torch.get_num_threads() == 3
    settle(7)
    monkeypatch.setattr(threads, "_settled", True)
    settle()
    assert torch.get_num_threads() == 7


def test_the_command_line_says_a_number(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    asked: list[int | None] = []
    monkeypatch.setattr(threads, "settle", lambda number=None: asked.append(number))
    assert main(["tag", "The dog runs.", "--device", "cpu", "--threads", "2"]) == 0
    assert asked[0] == 2 and set(asked[1:]) <= {None}
    assert main(["tag", "The dog runs.", "--threads", "0"]) == 2 and "threads" in capsys.readouterr().err


def test_two_hyperthreads_are_one_core(eight: None, tmp_path: Path) -> None:
    assert threads._whole_cores(tmp_path) == 8  # nothing is known
    for number in range(8):
        (tmp_path / f"cpu{number}" / "topology").mkdir(parents=True)
        (tmp_path / f"cpu{number}" / "topology" / "thread_siblings_list").write_text(f"{number % 4},{number % 4 + 4}\n")
    assert threads._whole_cores(tmp_path) == 4


def test_as_many_inside_as_given_and_outside_as_before(eight: None) -> None:
    settle(3)
    with in_threads(1):
        assert torch.get_num_threads() == 1
        with in_threads(5), in_threads(None):
            assert torch.get_num_threads() == 5
        assert torch.get_num_threads() == 1
    assert torch.get_num_threads() == 3
    with in_threads(None):
        assert torch.get_num_threads() == 3
    with pytest.raises(KeyError), in_threads(1):
        raise KeyError
    assert torch.get_num_threads() == 3
    for wrong in (0, 1.5, True, "2", 10**6):
        with pytest.raises(paraform.InputError, match="threads"):
            in_threads(wrong).__enter__()  # type: ignore[arg-type]


def test_threads_that_overlap(eight: None) -> None:
    """A thread that first asks torch while another is inside would find one, and keep it."""
    found: list[int] = []

    def other() -> None:
        with in_threads(1):
            entered.set()
            left.wait()
            found.append(torch.get_num_threads())
        found.append(torch.get_num_threads())

    settle(3)
    entered, left = threading.Event(), threading.Event()
    thread = threading.Thread(target=other)
    with in_threads(1):
        thread.start()
        entered.wait()
    assert torch.get_num_threads() == 3
    left.set()
    thread.join()
    assert found == [1, 3] and torch.get_num_threads() == 3
