"""What the tests of several papers' tables stand on."""

from __future__ import annotations

from pathlib import Path

import pytest


@pytest.fixture
def data_folder(tmp_path: Path) -> Path:
    """With the smallest set that a probe is fitted on."""
    place = tmp_path / "data" / "treebank"
    place.mkdir(parents=True)
    probing = [f"{part}\t{'IO'[at % 2]}\tword {at} of {part}\n" for part in ("tr", "va", "te") for at in range(12)]
    (place / "bigram_shift.txt").write_text("".join(probing))
    return place.parent
