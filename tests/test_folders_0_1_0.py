"""Folders that version 0.1.0 wrote: every later version reads them, and they say what they said then."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import paraform

FOLDERS = Path(__file__).parent / "folders_0_1_0"
SAID: dict[str, dict[str, Any]] = json.loads((FOLDERS / "said.json").read_text(encoding="utf-8"))


def test_a_folder_for_each_system_and_nothing_large() -> None:
    assert set(SAID) == {path.parent.name for path in FOLDERS.glob("*/paraform.json")} and len(SAID) == 10
    for folder in FOLDERS.iterdir():
        if folder.is_dir():
            assert sum(path.stat().st_size for path in folder.iterdir()) < 250_000, folder.name


@pytest.mark.parametrize("name", list(SAID))
def test_it_is_read_and_says_the_same(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    said = SAID[name]
    monkeypatch.chdir(FOLDERS)  # two of them name the encoder that stands beside them
    about = json.loads(Path(name, "paraform.json").read_text(encoding="utf-8"))
    assert (about["system"], about["versions"]["paraform"]) == (name, "0.1.0")
    model = paraform.load(name, device="cpu")
    assert not model.training
    if "embedding" in said:
        np.testing.assert_allclose(model.embed([said["text"]])[0][:8], said["embedding"], atol=1e-3)
    if "paraphrase" in said:
        assert model.decode([said["source"]], [said["exemplar"]]) == [said["paraphrase"]]
    if "reconstruction" in said:
        assert model.reconstruct([said["text"]]) == [said["reconstruction"]]
