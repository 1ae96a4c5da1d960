"""`evaluate distances`: what it prints and writes, and one line for what it cannot use."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Command = Callable[..., Any]

ROWS = [
    ("a good dog sat", "the good dog sat down", 1),
    ("a bad day", "that was a bad day", 1),
    ("a large house", "the house is large", 1),
    ("a small dog sat", "a small day", 0),
    ("a good day", "the bad house", 0),
    ("the house", "the dog", 0),
]
LABELLED = "left,right,same\n" + "".join(f"{left},{right},{label}\n" for left, right, label in ROWS)


def written(folder: Path, name: str, content: str) -> Path:
    (folder / name).write_text(content, encoding="utf-8")
    return folder / name


def test_two_models_side_by_side(tmp_path: Path, command: Command) -> None:
    path = written(tmp_path, "own.csv", LABELLED)
    given = ["evaluate", "distances", "--data", path, "--columns", "left", "right", "same", "--resamples", 20]
    given += ["--against", "minilm@layer=3", "--examples", "--plot", tmp_path / "distances.png"]
    done = command(*given)
    assert (done.status, done.err) == (0, "")
    assert (
        "own: words:penn-treebank, lower-cased|" in done.out
        and "|others:2 labelled|without_shared_word:0 and 1|" in done.out
    )
    assert "own, paraphrases, L2: minilm − minilm@layer=3 = " in done.out
    assert "It is a very small window. I have a large suitcase." in done.out and "5.84 0.30" in done.out
    assert (tmp_path / "distances.png").read_bytes().startswith(b"\x89PNG")
    found = json.loads(command(*given, "--overwrite", "--json").out)
    assert found["models"] == ["minilm", "minilm@layer=3"] and len(found["examples"]["minilm"]) == 7
    scores = {(score["subset"], score["name"], score["system"]): score for score in found["scores"]}
    one = scores["own, paraphrases", "L2", "minilm"]
    assert 0 < one["low"] <= one["value"] <= one["high"] and "|states:layer 6|model:minilm|" in one["signature"]
    assert "|states:layer 3|" in scores["own, others", "L2 > good–bad", "minilm@layer=3"]["signature"]


def test_others_are_mined_and_contexts_given(tmp_path: Path, command: Command) -> None:
    path = written(tmp_path, "pairs.tsv", "a dog sat\tthe dog sat\na cat sat\tthe cat slept\n")
    given = ["evaluate", "distances", "--data", path, "--resamples", 0, "--layers", "all"]
    done = command(*given)
    assert done.status == 0 and "pairs, mined others" in done.out and "mined by a shared word" in done.out
    assert done.err.count("\n") == 1 and "pairs: no sentence with 'good' or 'bad' or 'large' or 'small'" in done.err
    contexts = written(tmp_path, "more.txt", "a good day\na bad one\na large house\na small house\n")
    done = command(*given, "--contexts", contexts)
    assert (done.status, done.err) == (0, "") and "pairs, good–bad: contexts:1 and 1|text:" in done.out
    assert "states:layers 0 to 6, side by side|" in done.out


@pytest.mark.parametrize(
    ("given", "content", "said"),
    [
        ([], "a\tb\n", "own.tsv:1: no shared word in any of 1 paraphrase; expected pairs of sentences that have"),
        ([], "a\ta b\n", "own.tsv:1: 1 pair of paraphrases, no shared word of which stands in another cluster"),
        (["--skip-stopwords"], "the\tthe b\n", "own.tsv:1: no shared word in any of 1 paraphrase"),
        (["--against", "minilm"], "a\ta\n", "--against minilm: the model of --model; expected another one"),
        (["--model", "latent-compact"], "a\ta\n", "expected a model with states of words, such as an encoder"),
        (["--plot", "x.gif"], "a\ta\n", "--plot x.gif: expected a picture's name, which ends in .png or .svg"),
        (["--contexts", "nowhere.txt"], "a b\tb a\na c\tc a\n", "nowhere.txt: no such file"),
    ],
)
def test_one_line_for_what_cannot_be(
    given: list[str], content: str, said: str, tmp_path: Path, command: Command
) -> None:
    done = command("evaluate", "distances", "--data", written(tmp_path, "own.tsv", content), *given)
    assert (done.status, done.out) == (2, "")
    assert done.err.startswith("paraform: error: ") and done.err.count("\n") == 1 and said in done.err
