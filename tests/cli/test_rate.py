"""`paraform rate`: asks, goes on after a kill, goes back, writes a page, reports; and what is wrong is one line."""

from __future__ import annotations

import io
import json
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from paraform.evaluation.rating import read_key, read_outputs, read_sheet
from paraform.records import Candidate, Rewording

Command = Callable[..., Any]


@pytest.fixture
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """ours.jsonl and rival.jsonl in the working folder: 4 items each, of 4 sources with an exemplar."""
    monkeypatch.chdir(tmp_path)
    for name in ("ours", "rival"):
        rows = [{"source": f"s{i} ?", "paraphrase": f"{name[0]} {i}", "exemplar": f"e{i} ?"} for i in range(4)]
        (tmp_path / f"{name}.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    return tmp_path


@pytest.fixture
def types(command: Command, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Any]:
    """`types("4 5 3 s\\n", "rate", …)`: the command, with that on stdin; on a terminal if `person`."""

    def run(words: str, *given: object, person: bool = False) -> Any:
        stdin = io.TextIOWrapper(io.BytesIO(words.encode(errors="surrogateescape")), encoding="utf-8")
        monkeypatch.setattr(stdin, "isatty", lambda: person, raising=False)
        monkeypatch.setattr(sys, "stdin", stdin)
        return command(*given)

    return run


def rows(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text().splitlines()]


def test_answers_are_given_corrected_and_gone_on_with(files: Path, types: Any) -> None:
    words = "# me\n4 5 3 s\n2 2 2 n\n\nb\n3 2 2 l a slip\nq\n5 5 5 s\n"
    done = types(words, "rate", "ours.jsonl", "rival.jsonl", "--out", "r.jsonl")
    assert (done.status, done.err) == (0, "paraform: 2 of 8 items rated by rater in r.jsonl; the same call goes on\n")
    assert [line for line in done.out.splitlines() if " of 8" in line] == [f"{n} of 8" for n in (1, 2, 3, 2, 3)]
    assert [row["meaning"] for row in rows(files / "r.jsonl")] == [4, 2, 3] and rows(files / "r.jsonl")[2]["comment"]
    assert not any(name in done.out for name in ("ours", "rival"))
    done = types("1 1 1 n\n" * 6, "rate", "--out", "r.jsonl", "--json")
    assert json.loads(done.out) == {"out": "r.jsonl", "rater": "rater", "rated": 8, "items": 8}
    again = types("", "rate", "ours.jsonl", "rival.jsonl", "--out", "r.jsonl")
    assert again.status == 0 and len(rows(files / "r.jsonl")) == 9


def test_a_person_is_asked_again_and_sees_no_control_characters(files: Path, types: Any) -> None:
    with open("ours.jsonl", "a") as file:
        file.write(json.dumps({"source": "s0 ?", "paraphrase": "\x1b[2J\u202eevil", "exemplar": "e0 ?"}) + "\n")
    words = "4 5 s\n" + "4 5 3 s\n" * 9 + "1 1 1 n\nb\n5 5 5 s\nq\n"
    done = types(words, "rate", "ours.jsonl", "rival.jsonl", "--out", "r.jsonl", person=True)
    assert done.status == 0 and "strictly: the same meaning" in done.out
    assert "\x1b" not in done.out and "\u202e" not in done.out and "evil" in done.out
    first, second, last = done.err.splitlines()
    assert first.startswith("paraform: '4 5 s'; expected meaning, fluency, form from 1 to 5, then s (strictly)")
    assert second == "paraform: '1 1 1 n', and all 9 items are rated; expected b or q" and last.startswith(
        "paraform: 9 of 9"
    )
    assert rows(files / "r.jsonl")[-1]["meaning"] == 5 and len(rows(files / "r.jsonl")) == 10


def test_a_kill_between_two_answers_loses_none(files: Path, types: Any) -> None:
    given = ["rate", "ours.jsonl", "rival.jsonl", "--out", "r.jsonl"]
    with subprocess.Popen(
        [sys.executable, "-m", "paraform", *given], stdin=subprocess.PIPE, stdout=subprocess.DEVNULL
    ) as run:
        assert run.stdin is not None
        run.stdin.write(b"4 5 3 s\n3 5 3 s\n2 5")
        run.stdin.flush()
        path, until = files / "r.jsonl", time.monotonic() + 60
        while not (path.is_file() and path.read_bytes().count(b"\n") == 2):
            assert time.monotonic() < until and run.poll() is None
            time.sleep(0.02)
        run.kill()
        run.wait()
        assert run.returncode == -signal.SIGKILL
    done = types("2 5 3 s\n", *given)
    assert done.status == 0 and "3 of 8 items rated" in done.err
    assert [row["meaning"] for row in rows(path)] == [4, 3, 2] and len({row["id"] for row in rows(path)}) == 3


def test_a_sheet_goes_to_other_raters_and_the_report_has_them_all(files: Path, types: Any, command: Command) -> None:
    given = ["ours.jsonl", "rival.jsonl", "--control", "copies", "--out", "a.jsonl", "--rater", "a"]
    types("4 5 3 s\n1 2 1 n\n" * 9, "rate", *given)
    other = files / "other"
    other.mkdir()
    (other / "sheet.jsonl").write_text((files / "a.sheet.jsonl").read_text())
    types("4 5 3 s\n1 2 1 n\n" * 5, "rate", "--sheet", other / "sheet.jsonl", "--out", "b.jsonl", "--rater", "b")
    found = json.loads(command("rate", "--report", "a.jsonl", "b.jsonl", "--bad", "copies", "--json").out)
    assert found["raters"] == {"a": 12, "b": 10} and found["items"] == 12
    assert {score["system"] for score in found["scores"]} == {"ours", "rival", "copies"}
    values = {score["name"]: score["value"] for score in found["agreement"]}
    assert values["ρ, meaning"] == pytest.approx(1) and values["α, acceptable"] == pytest.approx(1)
    assert len(found["comparisons"]) == 12 and all(
        "low" in score for score in found["scores"] if score["name"] == "meaning"
    )
    text = command("rate", "--report", "a.jsonl", "b.jsonl").out
    assert text.startswith("raters: a: 12 of 12 items, b: 10 of 12 items\n") and "meaning: ours − rival = " in text
    assert command("rate", "--report", "--out", "a.jsonl").status == 0


def test_the_page_is_written_and_nothing_is_asked(files: Path, types: Any) -> None:
    done = types("", "rate", "ours.jsonl", "rival.jsonl", "--out", "r.jsonl", "--html", "page.html")
    assert (done.status, done.out) == (0, "page.html: 8 items\n")
    page = (files / "page.html").read_text()
    assert not any(name in page for name in ("ours", "rival")) and not (files / "r.jsonl").exists()
    assert types("", "rate", "--sheet", "r.sheet.jsonl", "--html", "again.html").status == 0
    assert (files / "again.html").read_text() == page


def test_what_paraphrase_printed_is_a_system_with_what_it_skipped(
    files: Path, types: Any, command: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It prints the frame that it used as the exemplar, and the other file has none: no item may show whose it is."""
    said = {"s0 ?": ("o 0", "is it …?"), "s1 ?": ("o 1", "what if …?")}
    found = [
        Rewording(
            text,
            (Candidate(said[text][0], said[text][1], {"content": 0.9}, 1.0),) if text in said else (),
            "" if text in said else "code",
        )
        for text in (f"s{i} ?" for i in range(4))
    ]
    monkeypatch.setattr("paraform.jobs.rewording.reworded", lambda *_: found)
    for otherwise, name in (("skip", "model"), ("copy", "copying")):
        texts = [one.source for one in found]
        printed = command("paraphrase", *texts, "--json", "--otherwise", otherwise).out
        assert len(json.loads(printed)["skipped"]) == 2
        (files / f"{name}.jsonl").write_text(printed)
    assert [output.text for output in read_outputs("model.jsonl")] == ["o 0", "o 1", None, None]
    assert [output.text for output in read_outputs("copying.jsonl")] == ["o 0", "o 1", "s2 ?", "s3 ?"]
    (files / "bare.jsonl").write_text("".join(f'{{"source": "s{i} ?", "paraphrase": "b {i}"}}\n' for i in range(4)))
    done = types("4 5 s\n" * 6, "rate", "model.jsonl", "bare.jsonl", "--out", "r.jsonl")
    assert done.status == 0 and "exemplars of 2 of 4 sources are not shown, and form is not asked" in done.err
    assert "exemplar" not in (files / "r.sheet.jsonl").read_text().split("\n", 1)[1]
    scores = json.loads(command("rate", "--report", "r.jsonl", "--json").out)["scores"]
    counts = {(score["name"], score["system"]): score["value"] for score in scores}
    assert counts["skipped", "model"] == 2 and counts["quality", "model"] == counts["quality", "bare"] == 4.5
    assert not any(name == "form" for name, _ in counts)


def test_options_reach_the_sheet_and_the_report(files: Path, types: Any, command: Command) -> None:
    """A control's own source is not rated, and that it has no exemplar hides none."""
    people = [{"source": "s0 ?", "paraphrase": "p"}, {"source": "other ?", "paraphrase": "q"}]
    (files / "people.jsonl").write_text("".join(json.dumps(row) + "\n" for row in people))
    orders = []
    for seed in ("0", "1"):
        given = ["rate", "ours.jsonl", "--control", "people.jsonl", "--seed", seed, "--out", f"r{seed}.jsonl"]
        assert types("4 5 3 s\n4 5 3 n\n4 5 3 n\n4 5 3 n\n4 5 3 n\n", *given).status == 0
        orders.append([item.id for item in read_sheet(f"r{seed}.sheet.jsonl")])
        assert all(item.exemplar for item in read_sheet(f"r{seed}.sheet.jsonl"))
    assert orders[0] != orders[1] and sorted(orders[0]) == sorted(orders[1])
    assert len(read_key("r0.key.json").systems["people"]) == 1
    # Two keys are there: each file's own is taken, and of a file without one either is only taken by name.
    (files / "r2.jsonl").write_text((files / "r0.jsonl").read_text())
    text = json.dumps(json.loads((files / "r1.key.json").read_text())).replace('"people"', '"others"')
    (files / "r1.key.json").write_text(text)
    given = ["--json", "--good", "ours", "--resample", "outputs", "--resamples", "50", "--seed", "7"]
    found = json.loads(command("rate", "--report", "r0.jsonl", *given).out)
    assert {score["system"] for score in found["scores"]} == {"ours", "people"}
    assert "resample:outputs" in found["scores"][0]["signature"]
    assert "resamples:50|seed:7" in found["scores"][0]["signature"]
    assert found["alarms"][0].startswith("the sheet is no good") and found["alarms"][0].endswith("0.5 at least")
    other = json.loads(command("rate", "--report", "r1.jsonl", "--json").out)
    assert {score["system"] for score in other["scores"]} == {"ours", "others"}
    done = command("rate", "--report", "r2.jsonl")
    assert done.status == 2 and "r2.key.json: no such key, and 2 others beside it; name it by --key" in done.err
    assert command("rate", "--report", "r2.jsonl", "--key", "r0.key.json").status == 0


def test_a_sheet_that_was_made_of_other_systems_is_not_gone_on_with(files: Path, types: Any) -> None:
    """The items are the same; only the key is not."""
    assert types("", "rate", "ours.jsonl", "rival.jsonl", "--out", "r.jsonl").status == 0
    (files / "third.jsonl").write_text((files / "rival.jsonl").read_text())
    done = types("", "rate", "ours.jsonl", "third.jsonl", "--out", "r.jsonl")
    assert done.status == 2 and "r.sheet.jsonl: holds other items or another order" in done.err


def test_a_rater_who_gave_no_answer_breaks_no_report(files: Path, types: Any, command: Command) -> None:
    given = ["ours.jsonl", "rival.jsonl", "--out"]
    assert types("q\n", "rate", *given, "u.jsonl", "--rater", "u").status == 0
    assert (files / "u.jsonl").read_bytes() == b""
    done = command("rate", "--report", "u.jsonl")
    assert done.status == 2 and "no answers; expected at least one rated item" in done.err
    types("4 5 3 s\n", "rate", "--sheet", "u.sheet.jsonl", "--out", "r.jsonl", "--rater", "r")
    done = command("rate", "--report", "u.jsonl", "r.jsonl")
    assert done.status == 0 and done.out.startswith("raters: r: 1 of 8 items\n")


def test_a_users_file_is_no_file_of_answers(files: Path, types: Any) -> None:
    (files / "notes.txt").write_text("buy milk")
    done = types("4 5 3 s\n", "rate", "ours.jsonl", "--out", "notes.txt")
    assert done.status == 2 and "notes.txt:1: not JSON" in done.err and (files / "notes.txt").read_text() == "buy milk"
    assert sorted(path.name for path in files.iterdir()) == ["notes.txt", "ours.jsonl", "rival.jsonl"]


@pytest.mark.parametrize(
    ("given", "words", "message"),
    [
        ("--control copies ours.jsonl rival.jsonl --out r.jsonl", "", "takes all behind it (copies, ours.jsonl, rival"),
        ("--control copies --out made.jsonl", "", "no file before --control"),
        ("--sample 2 --out made.jsonl", "", "--sample draws sources of files, and there are none"),
        ("ours.jsonl --out r.jsonl --key made.key.json", "", "--key says nothing without --report; give --report or"),
        ("ours.jsonl --out r.jsonl --bad copies", "", "--bad says nothing without --report"),
        ("--sheet made.sheet.jsonl --out r.jsonl --good ours", "", "--good says nothing without --report"),
        ("--report made.jsonl --html other.html", "", "--html says nothing with --report; leave out --html"),
        ("--report made.jsonl --sheet made.sheet.jsonl", "", "--sheet says nothing with --report"),
        ("--report made.jsonl --sample 2", "", "--sample says nothing with --report"),
        ("--report --out made.jsonl --control copies", "", "--control says nothing with --report"),
        ("--sheet made.sheet.jsonl --html ./made.sheet.jsonl", "", "--html ./made.sheet.jsonl: the file that is read"),
        ("ours.jsonl --out made.jsonl --html made.key.json", "", "--html made.key.json: is there already"),
        ("ours.jsonl --out r.jsonl --html ours.jsonl", "", "--html ours.jsonl: the file that is read"),
        ("ours.jsonl --out r.jsonl", "4 5 3 ſ\n", "<stdin>:1: '4 5 3 ſ'; expected meaning, fluency, form"),
        ("", "", "no --out; expected the name of a file"),
        ("--out r.jsonl", "", "no outputs, and no r.sheet.jsonl to go on with"),
        ("ours.jsonl --out r.jsonl", "9\n", "<stdin>:1: '9'; expected meaning, fluency, form from 1 to 5"),
        ("ours.jsonl --out r.jsonl", "\udcff\n", "<stdin>:1: not UTF-8"),
        ("nowhere.jsonl --out r.jsonl", "", "nowhere.jsonl: no such file"),
        ("ours.jsonl ours.jsonl --out r.jsonl", "", "ours.jsonl: a second system 'ours'"),
        ("ours.jsonl --out r.jsonl --rater=", "", "--rater is empty"),
        ("ours.jsonl --out r.jsonl --sample 9", "", "a sample of 9 sources; every system has 4"),
        ("ours.jsonl --out made.jsonl", "", "made.sheet.jsonl: holds other items or another order"),
        ("ours.jsonl --sheet made.sheet.jsonl --out r.jsonl", "", "--sheet has its items"),
        ("--sheet ours.jsonl --out r.jsonl", "", "ours.jsonl:1: no 'output'; expected a text"),
        ("--report", "", "--report without a file"),
        ("--report made.jsonl --out r.jsonl", "", "leave out --out"),
        ("--report made.jsonl", "", "made.jsonl: no such file"),
        ("--report r.jsonl --key made.sheet.jsonl", "", "made.sheet.jsonl:1: "),
        ("--report bad.jsonl", "", "bad.jsonl:1: no item 'x' in the sheet; expected one of its 8 ids"),
    ],
)
def test_bad_input_is_one_line(given: str, words: str, message: str, files: Path, types: Any) -> None:
    types("", "rate", "ours.jsonl", "rival.jsonl", "--out", "made.jsonl", "--html", "page.html")
    kept = {path.name: path.read_bytes() for path in files.iterdir()}
    (files / "bad.jsonl").write_text('{"id": "x", "rater": "a", "meaning": 1, "fluency": 1, "acceptable": "no"}\n')
    done = types(words, "rate", *given.split())
    assert done.status == 2 and done.err.startswith("paraform: error: ") and done.err.count("\n") == 1, done
    assert message in done.err
    assert kept == {name: (files / name).read_bytes() for name in kept}
