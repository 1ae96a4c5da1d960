"""What threads and forked processes need: one loads at a time, and a forked one computes in one thread."""

from __future__ import annotations

import functools
import os
import threading
from collections.abc import Callable
from typing import ParamSpec, TypeVar

import torch

Given = ParamSpec("Given")
Loaded = TypeVar("Loaded")

_LOADING = threading.RLock()  # what loads one thing loads others


def loads_alone(load: Callable[Given, Loaded]) -> Callable[Given, Loaded]:
    """The function, which other threads wait for: half an import of transformers' is seen by them as a missing name."""

    @functools.wraps(load)
    def alone(*given: Given.args, **named: Given.kwargs) -> Loaded:
        with _LOADING:
            return load(*given, **named)

    return alone


def _begin_anew() -> None:
    global _LOADING
    _LOADING = threading.RLock()  # which a thread that is not here any more may have held
    torch.set_num_threads(1)


if hasattr(os, "register_at_fork"):
    # OpenMP's threads do not survive a fork, and a child that waits for them does so for ever.
    os.register_at_fork(after_in_child=_begin_anew)
