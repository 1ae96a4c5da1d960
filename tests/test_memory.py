"""What is freed is kept: the kernel's count of pages that it had to map, with and without."""

from __future__ import annotations

import platform
import subprocess
import sys

import pytest

from paraform import memory

BLOCKS = """
import resource
import numpy as np

def faults():
    return resource.getrusage(resource.RUSAGE_SELF).ru_minflt

def fill():
    blocks = [np.ones(3 << 20, np.float64) for _ in range(4)]  # 24 MiB each

fill()
before = faults()
fill()
print(faults() - before)
"""


def faults(code: str) -> int:
    """Pages that the second of two equal allocations has mapped, in a process of its own."""
    return int(subprocess.run([sys.executable, "-c", code], capture_output=True, check=True, text=True).stdout)


def test_what_is_freed_need_not_be_mapped_again() -> None:
    without = faults(BLOCKS)
    kept = faults("from paraform.memory import keep_freed_memory\nkeep_freed_memory()\n" + BLOCKS)
    assert kept < without / 10 or platform.libc_ver()[0] != "glibc"


@pytest.mark.parametrize("system", ["darwin", "linux"])
def test_another_c_library_is_left_alone(system: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "platform", system)
    monkeypatch.setattr(memory.ctypes, "CDLL", lambda name: object())  # whose mallopt is none
    memory.keep_freed_memory()
