"""`paraform evaluate transfer`, on a few sentences and the offline encoder."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from paraform.encoders import Encoder

THINGS = "film book song meal phone game hotel show trip story"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """CR in SentEval's layout: praise and blame of twenty things each."""
    (tmp_path / "CR").mkdir()
    for name, words in {
        "custrev.pos": ("a wonderful", "i love this"),
        "custrev.neg": ("an awful", "i hate this"),
    }.items():
        lines = [f"{word} {thing} ." for word in words for thing in THINGS.split()]
        (tmp_path / "CR" / name).write_text("\n".join(lines) + "\n", encoding="utf-8")
    return tmp_path


def test_a_probe_tells_praise_from_blame(folder: Path, command: Callable[..., Any]) -> None:
    done = command("evaluate", "transfer", "--data", folder, "--tasks", "CR", "--json")
    assert done.status == 0, done.err
    found = {score["name"]: score for score in json.loads(done.out)["scores"] if score["system"] == "minilm"}
    assert found["accuracy"]["value"] > 90 and found["majority"]["value"] == 50
    assert found["accuracy"]["subset"] == "CR" and "optimiser:lbfgs" in found["accuracy"]["signature"]
    assert "model:minilm|" in found["accuracy"]["signature"]


def test_both_protocols_stand_in_one_table(folder: Path, command: Callable[..., Any]) -> None:
    done = command("evaluate", "transfer", "--data", folder, "--protocol", "default", "paper", "--floors", "none")
    assert done.status == 0, done.err
    rows = [line.split() for line in done.out.splitlines()]
    assert rows[0] == ["protocol", "rows", "system", "accuracy", "majority", "seen"]
    assert [row[:3] for row in rows[1:3]] == [["default", "CR", "minilm"], ["paper", "CR", "minilm"]]
    assert "standardise:no" in done.out


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (("--tasks", "MR"), "MR is not there; expected rt-polarity.pos and rt-polarity.neg"),
        (("--tasks", "CoLA"), "no set 'CoLA'; expected one of MR"),
        (("--model", "minilm@vectors=style"), "minilm, an encoder, has no choice of vectors"),
        (("--model", "minilm", "minilm"), "--model minilm twice; expected names that differ"),
        (("--vectors", "a.txt", "a.npy", "--vectors", "b.txt", "a.npy"), "--vectors a.npy twice; expected names that"),
        (("--vectors", "a.txt", "mine=a.npy"), "a.npy: no such file"),
    ],
)
def test_what_cannot_be_measured_is_one_line(
    change: tuple[str, ...], said: str, folder: Path, command: Callable[..., Any]
) -> None:
    done = command("evaluate", "transfer", "--data", folder, *change)
    assert done.status == 2 and done.err.count("\n") == 1 and said in done.err


def test_a_label_of_one_example_is_one_line(folder: Path, command: Callable[..., Any]) -> None:
    (folder / "CR" / "custrev.neg").write_text("an awful film .\n", encoding="utf-8")
    done = command("evaluate", "transfer", "--data", folder)
    said = "custrev.neg:1: the label of this row has 1 of 21 rows; expected one a fold, 10"
    assert done.status == 2 and said in done.err


def test_figures_have_intervals_and_two_models_are_compared(
    folder: Path, command: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    noise = np.random.default_rng(0)
    monkeypatch.setattr(Encoder, "embed", lambda _, texts, **__: noise.normal(size=(len(texts), 3)).astype(np.float32))
    given = ["evaluate", "transfer", "--data", folder, "--floors", "none", "--model", "minilm", "minilm@layer=3"]
    found = json.loads(command(*given, "--resamples", 50, "--json").out)
    accuracy = {score["system"]: score for score in found["scores"] if score["name"] == "accuracy"}
    assert all(0 <= score["low"] <= score["value"] <= score["high"] <= 100 for score in accuracy.values())
    (one,) = found["differences"]
    assert [one[key] for key in ("name", "subset", "protocol", "first", "second")] == [
        *("accuracy", "CR", "default", "minilm", "minilm@layer=3")
    ]
    assert one["difference"] == pytest.approx(accuracy["minilm"]["value"] - accuracy["minilm@layer=3"]["value"])
    assert one["low"] <= one["difference"] <= one["high"] and "resamples:50" in one["signature"]
    assert [note.partition(":")[0] for note in found["notes"]] == ["minilm, minilm@layer=3"]
    text = command(*given, "--resamples", 50).out
    assert "\n\nCR, accuracy, default: minilm − minilm@layer=3 = " in text and text.endswith(found["notes"][-1] + "\n")
    none = json.loads(command(*given, "--resamples", 0, "--json").out)
    assert none["differences"] == [] and "low" not in none["scores"][0]
