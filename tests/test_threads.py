"""Models in several threads, after a fork, and in another process."""

from __future__ import annotations

import multiprocessing
import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import paraform
from paraform.threads import loads_alone

TEXTS = ["Can I use my card abroad?", "Where is the bank?"]


def test_one_thread_is_inside_at_a_time() -> None:
    inside, most = 0, 0

    @loads_alone
    def load() -> None:
        nonlocal inside, most
        inside, most = inside + 1, max(most, inside + 1)
        time.sleep(0.01)
        inside -= 1

    threads = [threading.Thread(target=load) for _ in range(4)]
    for step in (threading.Thread.start, threading.Thread.join):
        for thread in threads:
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
