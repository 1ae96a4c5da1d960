"""What the tests of several papers' tables stand on; the cache folder is the checkout's own, as of the library's."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

os.environ["PARAFORM_CACHE"] = str(Path(__file__).parents[2] / ".pytest_cache" / "paraform")
CORES = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
os.environ.setdefault("OMP_NUM_THREADS", str(CORES))  # whatever else the machine does


@pytest.fixture
def data_folder(tmp_path: Path) -> Path:
    """With the smallest set that a probe is fitted on."""
    place = tmp_path / "data" / "treebank"
    place.mkdir(parents=True)
    probing = [f"{part}\t{'IO'[at % 2]}\tword {at} of {part}\n" for part in ("tr", "va", "te") for at in range(12)]
    (place / "bigram_shift.txt").write_text("".join(probing))
    return place.parent
