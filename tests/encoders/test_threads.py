"""One thread for little work, and as many as before afterwards, whoever leaves last."""

from __future__ import annotations

import threading
from collections.abc import Iterator

import pytest
import torch

from paraform.encoders import one_thread


@pytest.fixture(autouse=True)
def three() -> Iterator[None]:
    before = torch.get_num_threads()
    torch.set_num_threads(3)
    yield
    torch.set_num_threads(before)


def test_one_inside_and_as_many_as_before_outside() -> None:
    with one_thread():
        assert torch.get_num_threads() == 1
        with one_thread(), one_thread(when=False):
            assert torch.get_num_threads() == 1
    assert torch.get_num_threads() == 3
    with one_thread(when=False):
        assert torch.get_num_threads() == 3
    with pytest.raises(KeyError), one_thread():
        raise KeyError
    assert torch.get_num_threads() == 3


def test_threads_that_overlap() -> None:
    """A thread that first asks torch while another is inside would find one, and keep it."""
    found: list[int] = []

    def other() -> None:
        with one_thread():
            entered.set()
            left.wait()
            found.append(torch.get_num_threads())
        found.append(torch.get_num_threads())

    entered, left = threading.Event(), threading.Event()
    thread = threading.Thread(target=other)
    with one_thread():
        thread.start()
        entered.wait()
    assert torch.get_num_threads() == 3
    left.set()
    thread.join()
    assert found == [1, 3] and torch.get_num_threads() == 3
