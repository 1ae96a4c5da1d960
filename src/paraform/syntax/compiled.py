"""How the hot loops become machine code."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar, cast

import numpy as np

from paraform.extensions import needed

numba = needed("numba", "the exemplar index", "mine")

Function = TypeVar("Function", bound=Callable[..., object])
Value = TypeVar("Value")


def _forget_old_code(folder: Path) -> None:
    """Remove machine code that is older than any source here.

    numba looks at a function's own file alone, and would go on using what it made of another's that is called there.
    """
    newest = max(source.stat().st_mtime_ns for source in folder.glob("*.py"))
    for index in (folder / "__pycache__").glob("*.nbi"):
        with contextlib.suppress(OSError):  # another process was first, or the folder is not ours
            if index.stat().st_mtime_ns < newest:
                index.unlink()


_forget_old_code(Path(__file__).parent)


def read_only(value: Value) -> Value:
    """The same arrays, those in tuples of tuples too, not to be written any more.

    As memory maps are, so that no function is compiled again for every mixture of arrays that can be written or not.
    """
    if isinstance(value, np.ndarray):
        value.flags.writeable = False
    elif isinstance(value, tuple):
        for part in value:
            read_only(part)
    return value


def compiled(function: Function) -> Function:
    """Machine code from its first call on, kept on disk for the next process; other threads run beside it."""
    try:
        return cast(Function, numba.njit(cache=True, nogil=True)(function))
    except RuntimeError:  # no folder that it looks at can be written: a container's, say
        return cast(Function, numba.njit(nogil=True)(function))
