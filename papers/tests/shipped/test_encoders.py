"""The recipe at scale smoke, on a few rows: its files, and that a second run encodes nothing."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from paraform_papers.shipped import depth, encoders

Command = Callable[..., Any]


@pytest.fixture
def folder(data_folder: Path) -> Path:
    (data_folder / "stsb-en-test.csv").write_text("a cat,the cat,4.5\na dog,a tree,0.5\nwe sing,they sing,3\n")
    return data_folder


def test_smoke(folder: Path, tmp_path: Path, command: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    given = ["reproduce", "encoders", "--data", folder, "--out", tmp_path / "runs"]
    done = command(*given)
    assert done.status == 0, done.err
    out = tmp_path / "runs" / "smoke"
    report = json.loads((out / "report.json").read_text("utf-8"))
    assert list(report["models"]) == ["minilm", "minilm@layer=0", "minilm@layer=3"]
    assert list(report["floors"]) == ["minilm@weights=random", "shared words", "TF-IDF"]
    assert (out / "depth.png").read_bytes().startswith(b"\x89PNG")
    tables = (out / "encoders.md").read_text("utf-8")
    by_system = {score["system"]: score for score in report["summary"] if score["name"] == "meaning"}
    shown = f"{by_system['minilm']['value']:.1f} ({by_system['minilm']['low']:.1f} to "
    assert tables.startswith("### Summary\n") and shown in tables and "### Probing: accuracy" in tables

    def refuse(*_: object) -> None:
        raise AssertionError("encoded again")

    monkeypatch.setattr(depth, "pooled", refuse)
    again = json.loads(command(*given, "--json").out)
    assert again["summary"] == report["summary"]


def test_what_it_does_not_have(folder: Path, command: Command) -> None:
    done = command("reproduce", "encoders", "--data", folder, "--scale", "long")
    assert done.status == 2 and "--scale long: encoders has smoke, small, full" in done.err
    done = command("reproduce", "encoders", "--data", folder, "--row", "glove")
    assert done.status == 2 and "row 'glove'; expected one of minilm, minilm@layer=0" in done.err


def test_rows_of_every_scale_are_the_recipes() -> None:
    assert all(set(setting.models) <= set(encoders.MODELS) for setting in encoders.SCALES.values())
