"""`paraform overlap`: counts, examples, and a training file without what it shares with evaluation sets."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Command = Callable[..., Any]


@pytest.fixture
def files(tmp_path: Path) -> dict[str, str]:
    contents = {
        "TRAIN": "A dog can't swim.\tDogs do not swim.\nDogs do not swim.\tNo dog swims.\nA bird.\tOne bird.\n",
        "CAPTIONS": "A dog.\tTwo dogs.\tLeak one.\nA bird.\tTwo birds.\tA dog.\n",
        "sets/STS.input.x.txt": "a dog ca n't swim .\tcats swim\nleak one .\ta b\n",
        "sets/STS.gs.x.txt": "2\n\n",
        "BAD": "only one\n",
    }
    (tmp_path / "sets").mkdir()
    for name, text in contents.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    return {name: str(tmp_path / name) for name in [*contents, "sets", "OUT"]}


def test_counts_and_examples(files: dict[str, str], command: Command) -> None:
    about = json.loads(command("overlap", files["TRAIN"], "--against", files["sets"], "--json").out)
    example = {"training": "A dog can't swim.", "evaluation": "a dog ca n't swim ."}
    name = files["sets/STS.input.x.txt"]
    assert about["evaluation"] == [{"file": name, "sentences": 4, "in_training": 1, "examples": [example]}]
    assert about["training"] == [{"file": files["TRAIN"], "sentences": 5, "in_evaluation": 1}]
    shown = command("overlap", files["TRAIN"], "--against", files["sets"]).out
    assert f"{name}          4            1  25.0%" in shown
    assert '"a dog ca n\'t swim ." is in training: "A dog can\'t swim."' in shown


def test_what_is_dropped(files: dict[str, str], command: Command) -> None:
    given = ["--against", files["sets"], "--drop", "--out", files["OUT"]]
    done = command("overlap", files["TRAIN"], *given)
    assert Path(files["OUT"]).read_text(encoding="utf-8") == "A bird.\tOne bird.\n"
    assert "1 row; dropped are 1 with such a sentence and 1 of one cluster with them" in done.out
    command("overlap", files["CAPTIONS"], "--format", "captions", *given, "--overwrite")
    assert Path(files["OUT"]).read_text(encoding="utf-8") == "A bird.\tTwo birds.\tA dog.\n"


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (["TRAIN", "--against", "sets", "--drop"], "--drop alone; expected --drop --out FILE"),
        (["TRAIN", "--against", "sets", "--out", "OUT"], "--out alone; expected --drop --out FILE"),
        (["TRAIN", "TRAIN", "--against", "sets", "--drop", "--out", "OUT"], "expected one training file"),
        (["TRAIN"], "--against"),
        (["TRAIN", "--against", "nowhere"], "nowhere: no such file"),
        (["TRAIN", "--against", "sets/STS.gs.x.txt"], "STS.gs.x.txt:1: numbers or labels alone"),
        (["BAD", "--against", "sets"], "BAD:1: 1 column; expected 2"),
    ],
)
def test_a_mistake_is_one_line(given: list[str], said: str, files: dict[str, str], command: Command) -> None:
    done = command("overlap", *[files.get(word, word) for word in given])
    assert (done.status, done.out) == (2, "")
    assert done.err.startswith("paraform: error: ") and done.err.count("\n") == 1 and said in done.err
    assert not Path(files["OUT"]).exists()
