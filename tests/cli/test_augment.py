"""`paraform augment` with a model that says what it is told to; and tables as the source of texts."""

from __future__ import annotations

import csv
import io
import json
import os
import sys
from collections.abc import Callable, Sequence
from importlib import import_module
from pathlib import Path
from typing import Any, ClassVar

import pytest
from jsonargparse import Namespace

from paraform import cli
from paraform.cli import options, reading
from paraform.cli.complaints import parse
from paraform.corpora import tables
from paraform.default_call import MORE
from paraform.records import Candidate, InputError, Rewording

Command = Callable[..., Any]
augment = import_module("paraform.cli.augment")

INTENTS = 'id,text,intent\n1,Hi there,greet\n2,"Well, \n bye",leave\n3,Hm,other\n4,hello you,greet\n'


class Fake:
    """Rewords by the table; what it does not know gets no rewording."""

    kind: ClassVar[str] = "a fake"
    says: ClassVar[dict[str, list[str]]] = {
        "Hi there": ["Hey you", "hi, there!", "Good day"],
        "Well, bye": ["hello, you", "So long", "so long!", "Farewell"],
        "hello you": ["Greetings"],
    }

    def __init__(self) -> None:
        self.calls: list[tuple[list[str], dict[str, Any]]] = []

    def reword(self, sources: Sequence[str], **how: Any) -> list[Rewording]:
        self.calls.append((list(sources), how))
        found = []
        for source in sources:
            texts = self.says.get(" ".join(source.split()), [])[: how["num"]]
            candidates = tuple(Candidate(text, "like this", {}, 1.0) for text in texts)
            found.append(Rewording(source, candidates, "" if texts else "content below 0.5"))
        return found


@pytest.fixture
def fake(monkeypatch: pytest.MonkeyPatch) -> Fake:
    model = Fake()
    monkeypatch.setattr(augment, "load_reworder", lambda options: model)
    return model


@pytest.fixture
def intents(tmp_path: Path) -> Path:
    path = tmp_path / "intents.csv"
    path.write_text(INTENTS, newline="")
    return path


def rows_in(text: str) -> list[list[str]]:
    return list(csv.reader(io.StringIO(text, newline="")))


def test_rows_stay_rows_and_rewordings_follow_them(intents: Path, fake: Fake, command: Command) -> None:
    done = command("augment", intents, "--text-column", "text", "--per-row", 3, "--seed", 7)
    assert done.status == 0
    assert rows_in(done.out) == [
        ["id", "text", "intent", "paraform_line", "paraform_source"],
        ["1", "Hi there", "greet", "2", ""],
        ["1", "Hey you", "greet", "2", "Hi there"],
        ["1", "Good day", "greet", "2", "Hi there"],
        ["2", "Well, \n bye", "leave", "3", ""],
        ["2", "So long", "leave", "3", "Well, \n bye"],
        ["2", "Farewell", "leave", "3", "Well, \n bye"],
        ["3", "Hm", "other", "5", ""],
        ["4", "hello you", "greet", "6", ""],
        ["4", "Greetings", "greet", "6", "hello you"],
    ]
    assert done.err == (
        "paraform: 4 rows, 5 rewordings\n"
        f"paraform: 1 of 4 rows got none: 1 × content below 0.5; {MORE}\n"
        "paraform: 3 rewordings left out: 2 × says no more than the row, or another of its rewordings; "
        "1 × is a text of another row\n"
    )
    texts = ["Hi there", "Well, \n bye", "Hm", "hello you"]
    assert fake.calls == [(texts, {"num": 9, "force": False, "seed": 7})]


def test_no_rewording_is_a_text_of_another_label(intents: Path, fake: Fake, command: Command) -> None:
    given = ["augment", intents, "--per-row", 2, "--label-column", "intent", "--no-mark", "--no-source"]
    done = command(*given)
    assert rows_in(done.out) == [
        ["id", "text", "intent"],
        ["1", "Hey you", "greet"],
        ["1", "Good day", "greet"],
        ["2", "So long", "leave"],  # "hello, you" is left out, and so the next ones come in
        ["2", "Farewell", "leave"],
        ["4", "Greetings", "greet"],
    ]
    assert "1 × is a text of another label" in done.err
    fake.says = {"Hi there": ["See you"], "Well, bye": ["see you"]}
    done = command(*given)
    assert rows_in(done.out)[1:] == [["1", "See you", "greet"]]  # nor a rewording that was made of another
    assert "3 of 4 rows got none: 2 × content below 0.5; 1 × all of them left out" in done.err


def test_out_is_in_the_format_that_its_name_ends_in(
    intents: Path, tmp_path: Path, fake: Fake, command: Command
) -> None:
    out = tmp_path / "more.jsonl"
    done = command("augment", intents, "--out", out, "--json")
    assert json.loads(done.out) == {
        "out": str(out),
        "rows": 4,
        "rewordings": 3,
        "without": {"content below 0.5": 1},
        "left_out": {"is a text of another row": 1},
        "model": None,
    }
    rows = [json.loads(line) for line in out.read_text().splitlines()]
    assert rows[1] == {
        "id": "1",
        "text": "Hey you",
        "intent": "greet",
        "paraform_line": 2,
        "paraform_source": "Hi there",
    }
    assert command("augment", out, "--no-mark", "--no-source", "--out", tmp_path / "again.csv").status == 0
    assert rows_in((tmp_path / "again.csv").read_text())[0] == list(rows[1])  # those of JSON lines, as they were
    done = command("augment", out)
    assert (done.status, done.out) == (2, "")
    assert done.err == (
        f"paraform: error: {out}:1: a column 'paraform_line' is there already; "
        "expected none, or rows that are not marked (--no-mark)\n"
    )


def test_json_holds_the_rows(intents: Path, fake: Fake, command: Command) -> None:
    done = command("augment", intents, "--json")
    found = json.loads(done.out)
    assert done.out.count("\n") == 1 and (found["rows"], found["rewordings"], found["model"]) == (4, 3, None)
    assert [row["paraform_source"] for row in found["augmented"]][:3] == ["", "Hi there", ""]


def test_a_table_from_stdin(fake: Fake, command: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    content = b'\xef\xbb\xbf{"utterance": "Hi there", "label": 1}\r\n{"utterance": "Hm", "label": 2}\r\n'
    for given in (["--label-column", "label"], []):
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(content)))
        done = command("augment", "-", "--format", "jsonl", "--no-mark", "--no-source", *given)
        assert (done.status, done.out) == (0, '\ufeff{"utterance": "Hey you", "label": 1}\r\n')
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"text\n \n")))
    assert "error: <stdin>:2: the column 'text' is empty" in command("augment", "-", "--format", "csv").err
    assert "error: <stdin>: no table by its name; expected --format csv, tsv or jsonl" in command("augment", "-").err


def test_a_part_at_a_time_is_held_each_with_a_seed_of_its_own(
    intents: Path, fake: Fake, command: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The last row is bad, and is read when the first ones have been written."""
    whole = command("augment", intents).out
    fake.calls.clear()
    monkeypatch.setattr(augment, "PART", 2)
    intents.write_text(INTENTS + "5,short\n", newline="")
    done = command("augment", intents, "--batch-size", 3)
    assert (done.status, done.out) == (2, whole)
    assert done.err == f"paraform: error: {intents}:7: 2 fields; expected 3, as in the header\n"
    assert [(texts, how["seed"], how["batch_size"]) for texts, how in fake.calls] == [
        (["Hi there", "Well, \n bye"], 0, 3),
        (["Hm", "hello you"], 1, 3),
    ]
    done = command("augment", intents, "--skip-bad-lines", "--label-column", "intent")
    assert (done.status, done.err.count("1 bad line skipped")) == (0, 1)


def test_an_interrupt_or_an_error_leaves_the_file_of_before(
    intents: Path, fake: Fake, command: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Here that file is the input itself, which a run that ends well replaces."""
    monkeypatch.setattr(augment, "PART", 2)
    reword = fake.reword

    def interrupted(sources: Sequence[str], **how: Any) -> list[Rewording]:
        if fake.calls:
            raise KeyboardInterrupt
        return reword(sources, **how)

    monkeypatch.setattr(fake, "reword", interrupted)
    done = command("augment", intents, "--out", intents, "--overwrite")
    assert done == (130, "", "paraform: interrupted\n")
    assert os.listdir(intents.parent) == ["intents.csv"] and intents.read_bytes() == INTENTS.encode()
    monkeypatch.setattr(fake, "reword", reword)
    assert command("augment", intents, "--out", intents, "--overwrite").out == ""
    assert len(rows_in(intents.read_text())) == 8


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (["--text-column", "txt"], ":1: no column 'txt'; expected one of 'id', 'text', 'intent'"),
        (["--label-column", "label"], ":1: no column 'label'; expected one of 'id', 'text', 'intent'"),
        (["--per-row", "0"], "--per-row: 0; expected a number above 0"),
        (["--format", "jsonl"], ":1: not JSON (Expecting value at character 1)"),
    ],
)
def test_a_usage_error_is_one_line(given: list[str], said: str, intents: Path, fake: Fake, command: Command) -> None:
    done = command("augment", intents, "--out", intents.parent / "out.csv", *given)
    assert (done.status, done.out, done.err.count("\n")) == (2, "", 1) and said in done.err, done.err
    assert os.listdir(intents.parent) == ["intents.csv"] and not fake.calls


def test_as_many_rewordings_as_may_be_asked_for(intents: Path, fake: Fake, command: Command) -> None:
    assert command("augment", intents, "--per-row", 10**9).status == 0
    assert {how["num"] for _, how in fake.calls} == {10**9}


def test_what_tsv_cannot_hold_leaves_no_file(intents: Path, fake: Fake, command: Command) -> None:
    done = command("augment", intents, "--out", intents.parent / "out.tsv")
    assert done.status == 2 and f"{intents}:3: a TAB or a line break in 'Well, \\n bye'; expected none" in done.err
    assert os.listdir(intents.parent) == ["intents.csv"]


def test_a_model_that_does_not_reword(intents: Path, command: Command) -> None:
    done = command("augment", intents, "--model", "minilm")
    assert done == (2, "", "paraform: error: --model minilm: an encoder; expected a model that paraphrases\n")


def options_of(*given: str) -> Namespace:
    parser = options.make_parser("x", "Nothing.")
    options.add_texts(parser, tables=True)
    return parse(parser, given)


def rows_of(*given: str) -> list[tuple[int | None, str, dict[str, Any]]]:
    options = options_of(*given)
    return [(line, text, dict(fields)) for line, text, fields in reading.rows_of(options.text, options)]


def test_texts_with_their_lines_and_other_columns(
    intents: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = (2, "Hi there", {"id": "1", "intent": "greet"})
    assert rows_of(str(intents))[0] == rows_of(str(intents), "--text-column", "text")[0] == first
    assert rows_of(str(intents), "--text-column", "intent")[1] == (3, "leave", {"id": "2", "text": "Well, \n bye"})
    (tmp_path / "x.txt").write_text("one\ntwo\n")
    found = rows_of("an argument", str(tmp_path / "x.txt"), str(intents))
    assert found[:4] == [(None, "an argument", {}), (1, "one", {}), (2, "two", {}), first]
    (tmp_path / "x.tsv").write_text("a\tb\n")
    assert rows_of(str(tmp_path / "x.tsv")) == [(1, "a\tb", {})]  # text, unless an option says otherwise
    assert rows_of(str(tmp_path / "x.tsv"), "--format", "pairs") == [(1, "a", {})]
    with pytest.raises(InputError, match=r"x.tsv:1: no rows below the header"):
        rows_of(str(tmp_path / "x.tsv"), "--text-column", "b")
    with pytest.raises(
        InputError, match=r"x.txt: no table by its name; expected --format csv, tsv or jsonl, or a name"
    ):
        rows_of(str(tmp_path / "x.txt"), "--text-column", "b")
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b'{"text": "a", "n": 1}\n')))
    assert rows_of("-", "--format", "jsonl", "--text-column", "text") == [(1, "a", {"n": 1})]


def test_tables_are_the_librarys() -> None:
    assert options.TABLES == tables.TABLES
    assert "augment" in cli.COMMANDS


def test_rows_are_the_lines_they_were_and_spans_move(tmp_path: Path, fake: Fake, command: Command) -> None:
    fake.says = {"Fly to Rome": ["Rome is my goal", "Go away"]}
    lines = [
        '{"n":0.70, "text": "Fly to Rome", "city": "Rome", "start": 7, "end": 11, "e": 1e3}',
        '{"text": "Is  Oslo far", "city": "Oslo", "start": 4, "end": 8, "id": 1234567890123456789}',
    ]
    (tmp_path / "a.jsonl").write_text("\n".join(lines))
    done = command("augment", tmp_path / "a.jsonl", "--no-mark", "--per-row", 2, "--out", tmp_path / "b.jsonl")
    made = '{"n":0.70, "text": "Rome is my goal", "city": "Rome", "start": 0, "end": 4, "e": 1e3}'
    assert (tmp_path / "b.jsonl").read_text() == "\n".join([lines[0], made, lines[1]])
    assert "start and end say where a value stands in the text, and move with it (--span-columns)" in done.err
    assert "1 × has not once what the span columns say" in done.err
    given = ["augment", tmp_path / "a.jsonl", "--span-columns"]
    assert command(*given, "start", "stop").err.endswith(
        "no column 'stop'; expected one of 'n', 'text', 'city', 'start', 'end', 'e'\n"
    )
    assert command(*given, "start").err.endswith("--span-columns has 1 name; expected two, or none\n")
    assert '"city": "Rome", "start": 7, "end": 11, "e": 1e3}\n' in command(*given, "--no-mark", "--no-source").out


def test_how_much_changes_and_what_stays(command: Command, tmp_path: Path) -> None:
    """By rules: a synonym is little, and less than is usual."""
    movie, film = "The movies were great and the food was good.", "The films were great and the food was good."
    (tmp_path / "a.csv").write_text(f"text\n{movie}\n")
    given = ["augment", tmp_path / "a.csv", "--no-mark"]
    assert rows_in(command(*given, "--change", "little").out) == [["text"], [movie], [film]]
    assert rows_in(command(*given, "--change", "little", "--keep", "food", "mov").out)[2:] == [[film]]
    for more in (["--change", "much"], ["--change", "little", "--keep", "food", "movies"]):
        assert rows_in(command(*given, *more).out) == [["text"], [movie]]


def test_terms_in_a_file(command: Command, tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("text\nThe movies were great and the food was good.\n")
    (tmp_path / "kept.txt").write_text("food\nmovies\n")
    done = command("augment", tmp_path / "a.csv", "--change", "little", "--keep", tmp_path / "kept.txt")
    assert (done.status, len(rows_in(done.out))) == (0, 2), done.err
