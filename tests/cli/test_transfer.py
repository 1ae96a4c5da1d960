"""`paraform evaluate transfer`, on a few sentences and the offline encoder."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

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
        (("--model", "minilm", "--vectors", "a.txt", "a.npy"), "--vectors beside --model minilm; expected one of"),
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
    assert done.status == 2 and "CR: a label has 1 of 21 rows; expected one a fold, 10" in done.err
