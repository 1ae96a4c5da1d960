"""`paraform duplicates`: JSON lines of pairs and clusters, from what a person has at hand."""

from __future__ import annotations

import io
import json
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

from paraform.neighbours import apart

command_module = import_module("paraform.cli.duplicates")

Command = Callable[..., Any]

TEXTS = (
    "How can I lose weight quickly?",
    "Who wrote Hamlet?",
    "What is the quickest way to lose weight?",
    "Who wrote Hamlet?",
    "How do cats see in the dark?",
)


@pytest.fixture
def questions(tmp_path: Path) -> Path:
    path = tmp_path / "questions.txt"
    path.write_text("\n".join(TEXTS) + "\n", encoding="utf-8")
    return path


def objects(text: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in text.splitlines()]


def test_lines_on_stdout_and_a_summary_beside_them(questions: Path, command: Command) -> None:
    done = command("duplicates", questions, "--threshold", "0.7")
    pair, *clusters = objects(done.out)
    assert pair["pair"] == [1, 3] and 0.7 < pair["similarity"] < 1 and pair["texts"] == [TEXTS[0], TEXTS[2]]
    assert clusters == [
        {"cluster": [1, 3], "texts": [TEXTS[0], TEXTS[2]]},
        {"cluster": [2, 4], "texts": [TEXTS[1], TEXTS[1]]},
    ]
    said = "paraform: 1 pair, 2 clusters of 4 of 5 texts (cosine of 0.7 or more by minilm, search: exact)\n"
    assert (done.status, done.err) == (0, said)


def test_files(questions: Path, command: Command, tmp_path: Path) -> None:
    out, first = tmp_path / "found.jsonl", tmp_path / "first.txt"
    done = command("duplicates", questions, "--threshold", "0.7", "--out", out, "--first", first, "--json")
    about = json.loads(done.out)
    assert about == {
        "out": str(out),
        "model": "minilm",
        "threshold": 0.7,
        "search": "exact",
        "texts": 5,
        "different": 4,
        "pairs": 1,
        "clusters": 2,
        "in_clusters": 4,
        "unread_texts": 0,
        "unread": [],
        "kept_apart": {},
    }
    assert done.err == "" and objects(out.read_text(encoding="utf-8")) == objects(
        command("duplicates", questions, "--threshold", "0.7").out
    )
    assert first.read_text(encoding="utf-8").splitlines() == [TEXTS[0], TEXTS[1], TEXTS[4]]


def test_one_object_on_stdout(questions: Path, command: Command) -> None:
    about = json.loads(command("duplicates", questions, "--threshold", "0.7", "--search", "index", "--json").out)
    assert [next(iter(line)) for line in about["found"]] == ["pair", "cluster", "cluster"]
    assert (about["search"], about["pairs"]) == ("index", 1)


def test_stdin_tables_and_the_usual_threshold(
    command: Command, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, questions: Path
) -> None:
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(questions.read_bytes())))
    assert objects(command("duplicates", "-").out)[-1] == {"cluster": [2, 4], "texts": [TEXTS[1]] * 2}
    table = tmp_path / "table.csv"
    table.write_text("text,intent\n" + "".join(f'"{text}",x\n' for text in TEXTS), encoding="utf-8")
    assert objects(command("duplicates", table).out)[-1]["cluster"] == [3, 5]  # lines of the file, the header counted
    # of several sources the texts are counted through
    assert objects(command("duplicates", "Who?", questions).out)[-1]["cluster"] == [3, 5]


def test_texts_that_are_cut_are_said_once(command: Command, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr("paraform.neighbours.duplicates.CHUNK", 1)
    path = tmp_path / "long.txt"
    path.write_text("a " * 900 + "\n" + "b " * 900 + "\nshort\n", encoding="utf-8")
    said = command("duplicates", path).err
    assert "paraform: 2 of 3 texts are longer than the 256 tokens that minilm reads; what is behind is left out" in said
    assert said.count("longer") == 1


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (["--threshold", "1.5"], "--threshold: 1.5; expected a number above 0, at most 1"),
        (["--model", "minilm@layer=2"], "no threshold for minilm@layer=2; expected one, such as 0.8"),
        (["--vectors", "style"], "--vectors style: minilm is an encoder"),
        (["--out", "/dev/full/x"], "/dev/full"),
        (["--verify-threshold", "0.9"], "--verify-threshold without --verify; expected both, or neither"),
    ],
)
def test_what_is_refused(given: list[str], said: str, questions: Path, command: Command) -> None:
    done = command("duplicates", questions, *given)
    assert done.status == 2 and said in done.err and done.err.count("\n") == 1 and done.out == ""


def test_what_the_model_cannot_read_is_said(tmp_path: Path, command: Command) -> None:
    path = tmp_path / "some.txt"
    path.write_text("Who wrote Hamlet?\n😀\nwho wrote hamlet\n😎\n", encoding="utf-8")
    done = command("duplicates", path, "--json")
    assert json.loads(done.out)["unread"] == [2, 4] and json.loads(done.out)["pairs"] == 1
    said = "paraform: 2 texts compared by letters alone, since minilm knows few of their words; the first is 2, '😀'\n"
    assert (done.status, done.err) == (0, said)


def test_a_judge_says_how_likely_each_pair_is(tmp_path: Path, command: Command) -> None:
    path = tmp_path / "some.txt"
    path.write_text("How can I lose weight quickly?\nHow can I quickly lose weight?\nHow can I gain weight quickly?\n")
    done = command("duplicates", path, "--threshold", 0.3, "--verify", "minilm-judge")
    pair, cluster = objects(done.out)
    assert (pair["pair"], cluster["cluster"]) == ([1, 2], [1, 2]) and 0.82 <= pair["same"] <= 1
    assert "2 near pairs kept apart: 2 by meaning" in done.err
    assert "search: exact, same: 0.82 or more by minilm-judge)" in done.err
    every = command("duplicates", path, "--threshold", 0.3, "--verify", "minilm-judge", "--verify-threshold", 0.0001)
    assert sorted(one["pair"] for one in objects(every.out)[:-1]) == [[1, 2], [1, 3], [2, 3]]


def test_near_is_not_the_same(tmp_path: Path, command: Command) -> None:
    """What differs in a number, a name or a denial stays where the first of each cluster are written."""
    rows = [
        ("Refund order 1234 please", "refund", 7), ("Refund order 1235 please", "refund", 8),
        ("Turn on the kitchen lights", "on", 9), ("Turn off the kitchen lights", "off", 10),
        ("How can I lose weight quickly?", "diet", 11), ("What is the quickest way to lose weight?", "diet", 12),
    ]  # fmt: skip
    table = tmp_path / "a.csv"
    table.write_text("text,label,id\n" + "".join(f"{text},{label},{number}\n" for text, label, number in rows))
    given = ["duplicates", table, "--text-column", "text", "--label-column", "label", "--id-column", "id"]
    done = command(*given, "--threshold", 0.7, "--first", tmp_path / "first.txt")
    assert (tmp_path / "first.txt").read_text().splitlines() == [text for text, _, _ in rows[:5]]
    assert "paraform: 2 near pairs kept apart: 1 by numbers, 1 by negation (--keep-apart, --verify)" in done.err
    pair, cluster = objects(done.out)
    assert (pair["labels"], pair["ids"], cluster["ids"]) == (["diet", "diet"], ["11", "12"], ["11", "12"])
    done = command(*given, "--threshold", 0.7)
    assert len(objects(done.out)) == 6 and "paraform: 1 pair of two labels" in done.err
    done = command(*given[:-1], "key")
    assert (done.status, done.err) == (2, "paraform: error: no column 'key'; expected one of 'label', 'id'\n")


def test_the_kinds_are_those_of_the_library() -> None:
    assert command_module.KINDS == apart.KINDS


def test_a_folder_that_is_made_is_told(questions: Path, command: Command, tmp_path: Path) -> None:
    given = ["duplicates", questions, "--threshold", 0.9, "--out", tmp_path / "new" / "found.jsonl"]
    assert f"paraform: {tmp_path / 'new'}: a new folder, made for it\n" in command(*given).err
    assert "a new folder" not in command(*given, "--overwrite").err
