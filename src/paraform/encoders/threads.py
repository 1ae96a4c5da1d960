"""How many threads of torch compute what is little work."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager

import torch

_lock = threading.Lock()
_inside = 0  # how many callers are, in all threads
_before = 0  # threads that torch took before the first of them


@contextmanager
def one_thread(when: bool = True) -> Iterator[None]:
    """Inside, torch computes in the calling thread alone, if `when` holds; then it takes as many threads as before.

    For little work: the threads of a product wait for one another without giving up their cores, so that where another
    program keeps one of them busy a sentence takes fifteen times as long.
    """
    global _inside, _before
    if not when:
        yield
        return
    with _lock:
        found = torch.get_num_threads()  # asked in every thread: the first question sets the thread's own number
        if _inside == 0:  # else a thread that is new to torch finds the number of another caller, 1
            _before = found
        _inside += 1
    torch.set_num_threads(1)
    try:
        yield
    finally:
        with _lock:
            _inside -= 1
            torch.set_num_threads(_before)
