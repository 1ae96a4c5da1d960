"""`paraform index` and `paraform search`: a table once, then questions."""

from __future__ import annotations

import io
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from paraform.neighbours.search_index import SearchIndex

Command = Callable[..., Any]

TEXTS = ("How can I lose weight quickly?", "Who wrote Hamlet?", "How do cats see in the dark?", "Who wrote Hamlet?")


@pytest.fixture
def questions(tmp_path: Path) -> Path:
    path = tmp_path / "questions.txt"
    path.write_text("\n".join(TEXTS) + "\n", encoding="utf-8")
    return path


@pytest.fixture
def index(questions: Path, tmp_path: Path, command: Command) -> Path:
    assert command("index", questions, "--out", tmp_path / "index").status == 0
    return tmp_path / "index"


def cells(out: str) -> list[list[str]]:
    return [line.split("\t") for line in out.splitlines()]


def test_a_file_once_and_then_questions(questions: Path, tmp_path: Path, command: Command) -> None:
    done = command("index", questions, "--out", tmp_path / "index")
    assert done == (0, f"{tmp_path / 'index'}: 4 texts by minilm, vectors of 384 numbers\n", "")
    done = command("search", tmp_path / "index", "the author of hamlet", "--num", 3)
    assert (done.status, done.err) == (0, "")
    found = cells(done.out)
    assert [row[1:] for row in found[:2]] == [[TEXTS[1], "2"], [TEXTS[3], "4"]] and len(found) == 3
    assert found[0][0] == found[1][0] > found[2][0] and 0.5 < float(found[0][0]) < 1
    expected = SearchIndex.load(tmp_path / "index").search("the author of hamlet", 3)
    assert [row[0] for row in found] == [f"{hit.similarity:.3f}" for hit in expected]


def test_of_several_questions_each_line_begins_with_its_own(
    index: Path, tmp_path: Path, command: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    given = ["the author of hamlet", "night vision of cats", "a diet"]
    expected = [(question, text) for question, text in zip(given, (TEXTS[1], TEXTS[2], TEXTS[0]), strict=True)]
    (tmp_path / "new.txt").write_text("\n".join(given) + "\n", encoding="utf-8")
    (tmp_path / "new.csv").write_text("id,text\n" + "".join(f"1,{text}\n" for text in given), encoding="utf-8")
    monkeypatch.setattr("paraform.cli.search.CHUNK", 2)
    for asked in (given, [tmp_path / "new.txt"], [tmp_path / "new.csv"]):
        done = command("search", index, *asked, "--num", 1)
        assert [(row[0], row[2]) for row in cells(done.out)] == expected and done.err == ""
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO((tmp_path / "new.txt").read_bytes())))
    assert [row[2] for row in cells(command("search", index, "-", "--num", 1).out)] == [text for _, text in expected]


def test_columns_come_back_with_each_text(tmp_path: Path, command: Command) -> None:
    table = tmp_path / "table.csv"
    rows = [
        ("Where is my card?", "card 😀", 7),
        ('"It says ""no"", why?"', "no", 8),
        ('"two\nlines, one text"', "x", 9),
    ]
    table.write_text("question,label,id\n" + "".join(f"{a},{b},{c}\n" for a, b, c in rows), encoding="utf-8")
    done = command("index", table, "--out", tmp_path / "index", "--json")
    about = json.loads(done.out)
    assert about == {
        "out": str(tmp_path / "index"),
        "model": "minilm",
        "rows": 3,
        "dimension": 384,
        "different": 3,
        "unread": [],
    }
    done = command("search", tmp_path / "index", "my card is not here", "two lines", "--num", 1, "--json")
    found = json.loads(done.out)
    assert (found["texts"], found["model"], found["index"]) == (3, "minilm", str(tmp_path / "index"))
    assert [answer["question"] for answer in found["questions"]] == ["my card is not here", "two lines"]
    (card,), (lines,) = (answer["found"] for answer in found["questions"])
    assert card["text"] == rows[0][0] and card["fields"] == {"line": 2, "label": "card 😀", "id": "7"}
    assert (lines["text"], lines["row"], lines["fields"]["line"]) == ("two lines, one text", 2, 4)
    objects = tmp_path / "objects.jsonl"
    objects.write_text('{"text": "a cat", "line": "mine", "n": 3}\n{"text": "a ship", "line": "x", "n": null}\n')
    assert command("index", objects, "--text-column", "text", "--out", tmp_path / "other").status == 0
    assert command("search", tmp_path / "other", "kittens", "--num", 1).out.split("\t")[1:] == [
        "a cat\n"
    ]  # its own column "line" is no line
    (answer,) = json.loads(command("search", tmp_path / "other", "boat", "--json").out)["questions"]
    assert answer["found"][0]["fields"] == {"line": "x", "n": None}  # a column's own


def test_of_several_files_there_are_no_lines(questions: Path, tmp_path: Path, command: Command) -> None:
    assert command("index", questions, "What is tea?", "--out", tmp_path / "index").status == 0
    done = command("search", tmp_path / "index", "tea", "--num", 1)
    assert cells(done.out)[0][1:] == ["What is tea?"]


def test_what_the_model_cannot_read_is_said(tmp_path: Path, command: Command) -> None:
    path = tmp_path / "some.txt"
    path.write_text("Who wrote Hamlet?\n😀\nสวัสดีครับ\n", encoding="utf-8")
    done = command("index", path, "--out", tmp_path / "index")
    said = "paraform: 2 texts found by letters alone, since minilm knows few of their words; the first is 2, '😀'\n"
    assert (done.status, done.err) == (0, said)
    done = command("search", tmp_path / "index", "สวัสดีครับ", "😎", "hamlet", "--num", 1)
    assert cells(done.out)[0][:3] == ["สวัสดีครับ", "1.000", "สวัสดีครับ"]
    assert len(cells(done.out)) == 2
    assert done.err == (
        "paraform: 2 of 3 questions have few words that minilm knows; they are compared by letters alone\n"
        "paraform: nothing found for 1 of 3 questions\n"
    )
    (answer,) = json.loads(command("search", tmp_path / "index", "😎", "--json").out)["questions"]
    assert answer == {"question": "😎", "unread": True, "found": []}


def test_nothing_that_is_near_enough(index: Path, command: Command) -> None:
    assert command("search", index, "quantum chromodynamics", "--least", 0.9) == (0, "", "paraform: nothing found\n")


def test_an_index_is_not_written_over_unasked(index: Path, questions: Path, tmp_path: Path, command: Command) -> None:
    done = command("index", "another text", "--out", index)
    said = f"paraform: error: --out {index}: is there already; expected a new name, or --overwrite\n"
    assert (done.status, done.out, done.err) == (2, "", said)
    assert len(SearchIndex.load(index)) == 4
    assert command("index", "another text", "--out", index, "--overwrite").status == 0
    assert len(SearchIndex.load(index)) == 1
    done = command("index", "a text", "--out", tmp_path)
    assert done.status == 2 and "holds something else; expected a new or empty folder" in done.err
    done = command("index", questions, "--out", questions, "--overwrite")
    assert done.status == 2 and "not a folder" in done.err and questions.read_text() == "\n".join(TEXTS) + "\n"
    assert command("index", "nowhere.txt", "--out", tmp_path / "new").status == 2 and not (tmp_path / "new").exists()


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (["--least", "2"], "--least: 2; expected a number of at least -1, at most 1"),
        (["--num", "0"], "--num: 0; expected a number above 0"),
        (["--model", "compact"], "its vectors are of model:minilm"),
        (["--device", "nope"], "--device nope: no kind of device"),
    ],
)
def test_what_is_refused(given: list[str], said: str, index: Path, command: Command) -> None:
    done = command("search", index, "x", *given)
    assert done.status == 2 and said in done.err and done.err.count("\n") == 1 and done.out == ""


def test_what_is_no_index(tmp_path: Path, index: Path, command: Command) -> None:
    done = command("search", tmp_path / "none", "x")
    assert done.err == (
        f"paraform: error: {tmp_path / 'none' / 'paraform.json'}: no such file; expected a folder that paraform index"
        " or SearchIndex.save wrote\n"
    )
    (index / "vectors.npy").write_bytes((index / "vectors.npy").read_bytes()[:-4])
    done = command("search", index, "x")
    assert done.status == 2 and "vectors.npy: its SHA-256 is not the one in paraform.json" in done.err
    done = command("index", "x", "--vectors", "style", "--out", tmp_path / "new")
    assert done.status == 2 and "--vectors style: minilm is an encoder" in done.err


def test_style_vectors_of_a_latent_and_of_a_run(tmp_path: Path, tiny_run: Path, command: Command) -> None:
    given = ["--model", tiny_run, "--vectors", "style", "--out", tmp_path / "index"]
    assert command("index", "how do i learn chess ?", "where is it ?", *given).status == 0
    assert command("search", tmp_path / "index", "how can i teach music ?", "--num", 1).status == 0
    long = "word " * 900
    done = command("index", long, "--model", "latent-compact", "--out", tmp_path / "other")
    assert done.status == 2 and "text 1 has 900 words; expected at most" in done.err
