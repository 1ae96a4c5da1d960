"""Machine code on disk does not outlive the sources that it was made of; arrays that cannot be written."""

from __future__ import annotations

import os
from pathlib import Path

import numba
import numpy as np
import pytest

from paraform.syntax import compiled


def test_old_code_is_forgotten(tmp_path: Path) -> None:
    cache = tmp_path / "__pycache__"
    cache.mkdir()
    for name, seconds in {"a.py": 10, "b.py": 20, "__pycache__/a.f-1.nbi": 15, "__pycache__/b.g-1.nbi": 25}.items():
        (tmp_path / name).touch()
        os.utime(tmp_path / name, (seconds, seconds))
    compiled._forget_old_code(tmp_path)
    assert [path.name for path in cache.iterdir()] == ["b.g-1.nbi"]


def test_read_only() -> None:
    one, other = np.zeros(3), np.ones(2)
    assert compiled.read_only((one, (other, 7))) == (one, (other, 7))
    for array in (one, other):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 1


def test_without_a_folder_for_it_machine_code_is_made_and_not_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("numba.core.caching.CacheImpl._locator_classes", [])
    with pytest.raises(RuntimeError, match="no locator"):
        numba.njit(cache=True)(_twice)
    assert compiled.compiled(_twice)(21) == 42


def _twice(number: int) -> int:
    return 2 * number
