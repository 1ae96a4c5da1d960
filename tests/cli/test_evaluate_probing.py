"""`paraform evaluate probing`: from files to a table, and what it does not take."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from paraform.encoders import Encoder

Command = Callable[..., Any]

NOUNS = ["cat", "dog", "child", "teacher", "farmer", "nurse", "poet", "king", "baker", "pilot"]


@pytest.fixture
def treebank(tmp_path: Path) -> Path:
    """Sixty sentences of four to six words, split as GUM is."""
    for part, count in (("train", 4), ("dev", 1), ("test", 1)):
        folder = tmp_path / "trees" / part
        folder.mkdir(parents=True)
        trees = [
            f"(S (NP (DT The) (JJ {part}) (NN {noun})) (VP (VB has) (NP (CD {row + 2}) (NNS hats))) (. .))"
            for row in range(count)
            for noun in NOUNS
        ]
        (folder / "news.mrg").write_text("\n".join(trees), encoding="utf-8")
    return tmp_path / "trees"


def test_recreated_sets_are_written_read_and_measured(treebank: Path, tmp_path: Path, command: Command) -> None:
    done = command("evaluate", "probing", "--data", treebank, "--write", tmp_path / "sets")
    assert done.status == 0 and done.out == f"{tmp_path / 'sets' / 'bigram_shift.txt'}: 60 sentences\n"
    done = command("evaluate", "probing", "--data", treebank, "--model", "minilm", "minilm@layer=3", "--json")
    about = json.loads(done.out)
    assert about["sets"][0]["name"] == "BShift (re-created)"
    assert about["sets"][0]["shares"] == {"I": 0.5, "O": 0.5}
    assert {score["system"] for score in about["scores"]} > {"minilm", "minilm@weights=random", "TF-IDF"}
    values = {score["name"]: score["value"] for score in about["scores"] if score["system"] == "minilm"}
    assert values["majority"] == values["1/classes"] == 50
    taken = about["scores"][-1]
    assert (taken["name"], taken["system"]) == ("taken away", "minilm → minilm@layer=3")
    assert [note.partition(": trained")[0] for note in about["notes"]] == ["minilm, minilm@layer=3"]
    done = command(
        "evaluate", "probing", "--data", tmp_path / "sets", "--model", "minilm", "--tasks", "BShift", "--floors", "none"
    )
    assert done.status == 0 and done.out.count("BShift (re-created)") == 2


def test_nothing_above_chance_is_nothing_to_take_away(
    treebank: Path, command: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of vectors that are all the same a probe says the commonest label."""
    monkeypatch.setattr(Encoder, "embed", lambda self, texts, **_: np.ones((len(texts), 2), np.float32))
    given = ["evaluate", "probing", "--data", treebank, "--model", "minilm", "minilm@layer=3", "--floors", "none"]
    text = command(*given).out
    (row,) = [line.split() for line in text.splitlines() if "→" in line]
    assert row[-1] == "none" and "none: nothing was above chance" in text and "nan" not in text.lower().split()
    done = command(*given, "--json")
    (taken,) = [score for score in json.loads(done.out)["scores"] if score["name"] == "taken away"]
    assert taken["value"] is taken["low"] is taken["high"] is None and "NaN" not in done.out


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (["--data", "TREES", "--model", "minilm", "--tasks", "TopConst"], "no set 'TopConst'; expected one of BShift"),
        (["--data", "TREES", "--model", "minilm", "--protocol", "best"], "--protocol"),
        (["--data", "nowhere", "--model", "minilm"], "nowhere: no such file"),
        (["--data", "FILE", "--model", "minilm"], "set.txt:2: the label 'O' has one example"),
    ],
)
def test_a_mistake_is_one_line(given: list[str], said: str, treebank: Path, tmp_path: Path, command: Command) -> None:
    path = tmp_path / "set.txt"
    path.write_text("tr\tI\tNot it .\ntr\tO\tIt .\nva\tI\tSo .\nte\tI\tNo .\n", encoding="utf-8")
    words = {"TREES": str(treebank), "FILE": str(path)}
    done = command("evaluate", "probing", *[words.get(word, word) for word in given])
    assert (done.status, done.out) == (2, "")
    assert done.err.splitlines()[-1].startswith("paraform: error: ") and said in done.err
