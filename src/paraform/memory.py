"""Memory that a process has freed and keeps, so that the pages of its next tensors need not be mapped and cleared."""

from __future__ import annotations

import ctypes
import os
import sys

M_TRIM_THRESHOLD, M_MMAP_THRESHOLD = -1, -3  # glibc's malloc.h
LARGE = 32 << 20  # bytes; blocks above it still go back: kept ones fit the next seldom, and peaks grew by a fifth
NEVER = 2**31 - 1  # the largest number of bytes that `mallopt` takes


def keep_freed_memory() -> None:
    """Have glibc keep what is freed, but for large blocks; with another C library nothing changes.

    By itself glibc gives back what is free at the end of the heap beyond some megabytes, which a training step and a
    batch of texts take again at once, page by page.
    """
    if sys.platform != "linux":
        return
    library = ctypes.CDLL(None)
    if hasattr(library, "gnu_get_libc_version"):  # else musl, say, which has no such setting
        library.mallopt(M_MMAP_THRESHOLD, LARGE)
        library.mallopt(M_TRIM_THRESHOLD, NEVER)


def bound_memory() -> None:
    """For a command that goes through texts without end; to be called before anything imports torch.

    oneDNN and torch each keep what they compiled for the last 1,024 shapes of a product. Each batch of texts has a
    shape of its own, so that these grow for tens of thousands of texts, and save no time (docs/benchmarks.md).
    """
    for name in ("ONEDNN_PRIMITIVE_CACHE_CAPACITY", "LRU_CACHE_CAPACITY"):
        os.environ.setdefault(name, "16")
