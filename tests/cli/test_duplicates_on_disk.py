"""`paraform duplicates --out FOLDER`: the lines of one file, whatever it reads, whatever does it, and after a kill."""

from __future__ import annotations

import csv
import hashlib
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import psutil
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from paraform.cli import duplicates_on_disk as command_module
from paraform.cli.options import is_folder

Command = Callable[..., Any]
WORK = Path(__file__).with_name("duplicates_work.py")


@pytest.fixture(scope="module")
def texts(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    """Forty questions, near ones, copies and one that cannot be read among them."""
    verbs, topics = ("learn", "teach", "study", "enjoy"), ("chess", "cooking", "spanish", "algebra")
    ways = ("How do I {} {}?", "What is the best way to {} {}?")
    made = [way.format(verb, topic) for verb in verbs for topic in topics for way in ways]
    return [*made, *made[:5], "😀", "Call 5 friends", "Call 6 friends", "so " * 300]


@pytest.fixture
def file(texts: list[str], tmp_path: Path) -> Path:
    path = tmp_path / "texts.txt"
    path.write_text("\n".join(texts) + "\n", encoding="utf-8")
    return path


def small(monkeypatch: pytest.MonkeyPatch) -> None:
    """Pieces of few rows; a worker is told how many."""
    monkeypatch.setattr("paraform.neighbours.on_disk.SHARD", 8)
    monkeypatch.setattr("paraform.neighbours.near_on_disk.EXACT_ROWS", 10)


def files(folder: Path) -> dict[str, str]:
    every = (path for path in sorted(folder.rglob("*")) if path.is_file())
    return {str(path.relative_to(folder)): hashlib.sha256(path.read_bytes()).hexdigest() for path in every}


@pytest.mark.parametrize("held", [3, 8192])
def test_the_lines_are_those_of_a_file(
    held: int, file: Path, tmp_path: Path, command: Command, inline: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of a cluster that is larger than what is held at once, too."""
    small(monkeypatch)
    monkeypatch.setattr(command_module, "HELD", held)
    monkeypatch.setattr(command_module, "PAIRS", held)
    digest, out = hashlib.sha256(file.read_bytes()).hexdigest(), tmp_path / "out"
    given = ["duplicates", file, "--threshold", 0.7, "--first"]
    expected = command(*given, tmp_path / "first.txt", "--out", tmp_path / "found.jsonl")
    done = command(*given, tmp_path / "first-too.txt", "--out", out, "--workers", 1)
    assert done.status == 0 and done.err == expected.err and "kept apart: 1 by numbers" in done.err
    assert "1 of 35 texts are longer" in done.err
    assert done.out == expected.out.replace(str(tmp_path / "found.jsonl"), str(out))
    assert (out / "found.jsonl").read_bytes() == (tmp_path / "found.jsonl").read_bytes()
    assert (tmp_path / "first-too.txt").read_bytes() == (tmp_path / "first.txt").read_bytes()
    assert hashlib.sha256(file.read_bytes()).hexdigest() == digest
    before = files(out)
    again = command(*given, tmp_path / "first-too.txt", "--out", out, "--overwrite", "--json")
    about, shown = json.loads(again.out), json.loads(command(*given[:-1], "--json", "--keep-apart", "numbers").out)
    assert about["unread_texts"] == 1 and shown["unread"] == [38] and about["out"] == str(out)
    both = shown.keys() & about.keys() - {"kept_apart"}
    assert {key: about[key] for key in both} == {key: shown[key] for key in both} and "unread" not in about
    assert files(out) == before


def test_tables_of_all_kinds(
    texts: list[str], tmp_path: Path, command: Command, inline: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With what goes with each text, in CSV, JSON lines and Parquet; of a cluster in pieces, too."""
    rows = [{"id": number, "body": text, "label": "xy"[number % 2]} for number, text in enumerate(texts)]
    with open(tmp_path / "a.csv", "w", newline="", encoding="utf-8") as out:
        table = csv.DictWriter(out, ["id", "body", "label"])
        table.writeheader()
        table.writerows(rows)
    (tmp_path / "a.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    pq.write_table(pa.Table.from_pylist(rows), tmp_path / "a.parquet")
    given = ["--text-column", "body", "--label-column", "label", "--id-column", "id", "--threshold", 0.7]
    for name in ("a.csv", "a.jsonl"):
        expected = command("duplicates", tmp_path / name, *given, "--out", tmp_path / f"{name}.found")
        done = command("duplicates", tmp_path / name, *given, "--out", tmp_path / name.replace(".", "-"))
        assert done.status == 0 and done.err == expected.err and "pairs of two labels" in done.err
        found = (tmp_path / name.replace(".", "-") / "found.jsonl").read_bytes()
        assert found == (tmp_path / f"{name}.found").read_bytes() and b'"ids": [' in found
    monkeypatch.setattr(command_module, "HELD", 2)
    assert command("duplicates", tmp_path / "a.parquet", *given, "--out", tmp_path / "p").status == 0
    assert (tmp_path / "p" / "found.jsonl").read_bytes() == (tmp_path / "a.jsonl.found").read_bytes()


def test_a_mended_file_is_read(file: Path, tmp_path: Path, command: Command, inline: None) -> None:
    """A line that cannot be used stops the command, and leaves nothing that would refuse the file without it."""
    text = file.read_bytes()
    file.write_bytes(text + b"\xff\n")
    given = ["duplicates", file, "--out", tmp_path / "out"]
    done = command(*given)
    assert done.status == 2 and "texts.txt:42: byte 1" in done.err
    file.write_bytes(text)
    assert command(*given).status == 0


def test_a_folder_of_another_version_is_refused(
    file: Path, tmp_path: Path, command: Command, inline: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Which may read the file otherwise, or keep other pairs apart."""
    given = ["duplicates", file, "--keep-apart", "numbers", "--out", tmp_path / "out"]
    assert command(*given).status == 0
    monkeypatch.setattr(command_module, "__version__", "0.0.1")
    done = command(*given)
    assert done.status == 2 and "holds another job's shards (the file changed, or how it is read)" in done.err


def test_rows_of_parquet_are_its_own(tmp_path: Path, command: Command, inline: None) -> None:
    """A blank one that is left out is counted, too."""
    texts = ["How can I lose weight?", " ", "Who wrote Hamlet?", "How do I lose weight?"]
    pq.write_table(pa.table({"text": texts}), tmp_path / "a.parquet")
    given = ["--threshold", 0.7, "--skip-bad-lines", "--out", tmp_path / "out"]
    assert command("duplicates", tmp_path / "a.parquet", *given).status == 0
    lines = (tmp_path / "out" / "found.jsonl").read_text(encoding="utf-8").splitlines()
    assert [next(iter(json.loads(line).values())) for line in lines] == [[1, 4], [1, 4]]


def test_labels_of_one_value_are_one(tmp_path: Path, command: Command, inline: None) -> None:
    rows = [{"text": f"How {way} I lose weight?", "label": label} for way, label in (("can", 1), ("do", 1.0))]
    (tmp_path / "a.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    given = ["duplicates", tmp_path / "a.jsonl", "--threshold", 0.7, "--label-column", "label", "--json"]
    given += ["--text-column", "text"]
    expected, about = (json.loads(command(*given, *more).out) for more in ([], ["--out", tmp_path / "out"]))
    assert expected["pairs"] == about["pairs"] == 1 and expected["two_labels"] == about["two_labels"] == 0


def test_a_judge_reads_the_pairs(file: Path, tmp_path: Path, command: Command, inline: None) -> None:
    given = ["duplicates", file, "--threshold", 0.7, "--verify", "minilm-judge", "--out"]
    expected = command(*given, tmp_path / "found.jsonl")
    done = command(*given, tmp_path / "out")
    assert done.status == 0 and done.err == expected.err and "by meaning" in done.err
    assert (tmp_path / "out" / "found.jsonl").read_bytes() == (tmp_path / "found.jsonl").read_bytes()


def test_the_same_bytes_whatever_does_it_and_after_kills(
    file: Path, tmp_path: Path, command: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A worker is killed once there are vectors, and the command once there are pairs."""
    pytest.importorskip("ray")
    from paraform.engines.ray import connected

    small(monkeypatch)
    given = ["duplicates", file, "--threshold", 0.7, "--keep-apart", "numbers", "--out"]
    assert command(*given, tmp_path / "one", "--workers", 1).status == 0
    expected = files(tmp_path / "one")
    assert len(expected) > 20
    with connected("local", 2):
        assert command(*given, tmp_path / "ray", "--engine", "ray", "--workers", 2).status == 0
    assert files(tmp_path / "ray") == expected
    killed = tmp_path / "two"
    running = subprocess.Popen([sys.executable, WORK, *map(str, given), killed, "--workers", "2"], env=os.environ)
    try:
        wait_for(killed, "vectors/*.npy", running)
        victims = [one for one in psutil.Process(running.pid).children() if "spawn_main" in " ".join(one.cmdline())]
        victims[0].kill()
        wait_for(killed, "pairs-*/*.npy", running)
    finally:
        running.send_signal(signal.SIGKILL)
        running.wait()
    assert not (killed / "found.jsonl").exists() and len(files(killed)) < len(expected)
    assert command(*given, killed, "--workers", 2).status == 0
    assert files(killed) == expected


def wait_for(folder: Path, pattern: str, process: subprocess.Popen[bytes]) -> None:
    end = time.monotonic() + 240
    while not list(folder.glob(pattern)):
        assert process.poll() is None and time.monotonic() < end
        time.sleep(0.005)


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (["-", "--out", "OUT"], "-: a pipe; expected files for what is found in "),
        (["a text", "--out", "OUT"], "a text: no such file; expected files for what is found in "),
        (["TEXTS", "--out", "OUT.jsonl", "--engine", "ray"], "--engine ray: of shards; expected --out FOLDER"),
        (["TEXTS", "--workers", "2"], "--workers 2: of shards; expected --out FOLDER"),
        (["TEXTS", "--out", "OUT", "--vectors", "style"], "--vectors style: minilm is an encoder; expected no"),
        (["TEXTS", "--out", "OUT", "--model", "minilm@layer=2"], "no threshold for minilm@layer=2; expected one"),
        (["TEXTS", "--out", "OUT", "--verify", "minilm"], "--verify minilm: an encoder; expected a judge of meaning"),
        (["TEXTS", "--out", "OUT", "--address", "x:1"], "address 'x:1' for engine 'local'"),
        (["PARQUET", "--out", "OUT.jsonl"], "a.parquet: Parquet, which becomes shards; expected --out FOLDER"),
        (["TABLE", "--out", "OUT", "--label-column", "no"], "no column 'no'; expected one of"),
        (["MINE", "--out", "OUT"], "mine: a folder; expected files for what is found in "),
        (["TEXTS", "--out", "MINE"], "holds mine.txt and no shards.json; expected a new or an empty folder"),
    ],
)
def test_what_is_refused(
    given: list[str], said: str, file: Path, tmp_path: Path, command: Command, inline: None
) -> None:
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "mine.txt").touch()
    (tmp_path / "table.csv").write_text("text,label\na,b\n")
    words = {"TEXTS": file, "OUT": tmp_path / "out", "OUT.jsonl": tmp_path / "out.jsonl", "MINE": tmp_path / "mine"}
    words |= {"TABLE": tmp_path / "table.csv", "PARQUET": tmp_path / "a.parquet"}
    (tmp_path / "a.parquet").touch()
    done = command("duplicates", *(words.get(word, word) for word in given))
    assert done.status == 2 and said in done.err and done.err.count("\n") == 1
    assert os.listdir(tmp_path / "mine") == ["mine.txt"] and not (tmp_path / "out.jsonl").exists()
    assert not list((tmp_path / "out").glob("*.arrow"))


@pytest.mark.parametrize("name", ["firsts.npy", "unread.npy", "corpus.arrow", "shards.json"])
def test_a_damaged_folder_is_one_line(name: str, file: Path, tmp_path: Path, command: Command, inline: None) -> None:
    given = ["duplicates", file, "--out", tmp_path / "out"]
    assert command(*given).status == 0
    for content in (b"", b"{", b"\x93NUMPY\x01\x00"):
        (tmp_path / "out" / name).write_bytes(content)
        done = command(*given)
        assert done.status == 2 and f"{name}" in done.err and done.err.count("\n") == 1


def test_which_names_are_folders(tmp_path: Path) -> None:
    (tmp_path / "a.b").mkdir()
    folders = ["out", "runs.1/out", "out/", "./out", str(tmp_path / "a.b")]
    assert [is_folder(name) for name in folders] == [True] * 5
    assert [is_folder(name) for name in (None, "out.jsonl", "runs/out.txt", "a.b")] == [False] * 4


def test_a_models_folder_may_be_named_from_here(
    file: Path, tmp_path: Path, command: Command, inline: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Workers load it by another name than the one that was typed."""
    monkeypatch.chdir(tmp_path)
    assert command("export", "minilm", "--out", "mine").status == 0
    done = command("duplicates", file, "--model", "mine", "--threshold", 0.7, "--out", "out")
    assert (done.status, command("duplicates", file, "--out", "by-minilm", "--threshold", 0.7).status) == (0, 0), done
    assert Path("out/found.jsonl").read_bytes() == Path("by-minilm/found.jsonl").read_bytes()
