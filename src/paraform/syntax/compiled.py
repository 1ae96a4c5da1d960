"""How the hot loops become machine code."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar, cast

from numba import njit

Function = TypeVar("Function", bound=Callable[..., object])


def compiled(function: Function) -> Function:
    """Machine code from its first call on, kept on disk for the next process; other threads run beside it."""
    return cast(Function, njit(cache=True, nogil=True)(function))
