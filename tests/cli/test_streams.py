"""The process around a command: streams that are closed or take ASCII alone, links that lead nowhere, SIGTERM."""

from __future__ import annotations

import contextlib
import io
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from paraform.encoders import Encoder
from paraform.ending import TERMINATED
from paraform.syntax.annotation import Annotator

Command = Callable[..., Any]


def failed(done: Any, *parts: object) -> None:
    """With one line that says all of these."""
    assert (done.status, done.err.count("\n")) == (2, 1), done
    for part in parts:
        assert str(part) in done.err, done.err


@contextlib.contextmanager
def closed(name: str) -> Iterator[None]:
    """None is Python's own way of saying that a stream was closed before it began."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sys, name, None)
        yield
        getattr(sys, name).close()  # what the command put there


@pytest.mark.parametrize("given", [["tag"], ["tag", "-"], ["embed", "-", "--json"], ["mine", "-", "--out", "x"]])
def test_stdin_that_is_closed_is_empty(
    given: list[str], command: Command, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.chdir(tmp_path)
    with closed("stdin"):
        failed(command(*given), "<stdin>:1: the file is empty; expected at least one line")
    assert not os.listdir(tmp_path)


def test_stdout_that_is_closed_is_refused_before_any_work(command: Command) -> None:
    with closed("stdout"):
        failed(command("tag", "nowhere.txt"), "stdout is closed; expected an open one")


def test_stderr_may_be_closed(command: Command) -> None:
    with closed("stderr"):
        assert command("tag", "A cat.") == (0, "A/DT cat/NN ./.\n", "")
        assert command("tag", "nowhere.txt") == (2, "", "")


@pytest.mark.parametrize("given", [["tag", "A café."], ["tag", "A café.", "--json"], ["--help"], ["tag", "--help"]])
def test_stdout_that_takes_ascii_alone(given: list[str], command: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(io.BytesIO(), encoding="ascii"))
    failed(command(*given), "stdout takes ascii, which has no ", "; expected PYTHONIOENCODING=utf-8")


def test_links_that_lead_nowhere(tmp_path: Path, command: Command, question_pairs: Path) -> None:
    for name, target in {"round.npy": "about.npy", "about.npy": "round.npy", "lost": "made/deep"}.items():
        (tmp_path / name).symlink_to(tmp_path / target)
    (tmp_path / "lost.npy").symlink_to(tmp_path / "made" / "lost.npy")
    before = sorted(os.listdir(tmp_path))
    for name, said in {"round.npy": "round.npy", "lost.npy": "lost.npy", "lost/x.npy": "lost"}.items():
        done = command("embed", "A cat.", "--out", tmp_path / name)
        failed(done, f"{tmp_path / said}: a link that leads nowhere; expected one into a folder that is there")
    failed(command("mine", question_pairs, "--out", tmp_path / "round.npy" / "x"), tmp_path / "round.npy")
    failed(command("train", "exemplar", "--data", question_pairs, "--out", tmp_path / "lost"), tmp_path / "lost")
    failed(command("train", "exemplar", "--data", question_pairs, "--out", tmp_path / "round.npy"), "round.npy")
    assert sorted(os.listdir(tmp_path)) == before


def test_a_link_to_a_file_that_is_not_there_yet_is_followed(tmp_path: Path, command: Command) -> None:
    (tmp_path / "v.npy").symlink_to(tmp_path / "w.npy")
    assert command("embed", "A cat.", "--out", tmp_path / "v.npy").status == 0
    assert (tmp_path / "v.npy").is_symlink() and (tmp_path / "w.npy").is_file()


@pytest.fixture
def unheard() -> Iterator[None]:
    """SIGTERM as a fresh process has it: a test before this one may have started Ray, which hears it itself."""
    before = signal.signal(signal.SIGTERM, signal.SIG_DFL)
    yield
    signal.signal(signal.SIGTERM, before)


TWICE = """
import signal, sys
from paraform import cli
from paraform.weights import atomic_path
def command(given):
    with atomic_path(given[0]):
        try:
            signal.raise_signal(signal.SIGTERM)
        finally:
            signal.raise_signal(signal.SIGTERM)
cli._dispatch = command
sys.exit(cli.main())
"""


def test_a_sigterm_that_comes_again_while_it_tidies_is_one(tmp_path: Path) -> None:
    """`timeout` sends it to the process and then to its group."""
    done = subprocess.run([sys.executable, "-c", TWICE, str(tmp_path / "a")], capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (TERMINATED, "paraform: interrupted\n")
    assert not list(tmp_path.iterdir())


def test_a_sigterm_leaves_nothing_unfinished(
    tmp_path: Path, command: Command, question_pairs: Path, monkeypatch: pytest.MonkeyPatch, inline: None, unheard: None
) -> None:
    """Neither beside the output nor where stdin was put."""
    heard = []

    def terminated(*given: Any, **how: Any) -> Any:
        heard.append(sorted(path.name for path in tmp_path.iterdir()))
        signal.raise_signal(signal.SIGTERM)

    monkeypatch.setattr(Encoder, "embed", terminated)
    monkeypatch.setattr(Annotator, "open", terminated)
    for given in (
        ["embed", question_pairs, "--out", tmp_path / "v.npy"],
        ["embed", question_pairs, "--out", tmp_path / "shards"],
        ["annotate", question_pairs, "--out", tmp_path / "a.jsonl"],
    ):
        done = command(*given)
        assert (done.status, done.out) == (TERMINATED, "") and done.err.endswith("paraform: interrupted\n")
    assert heard[2][0].startswith(".a.jsonl.") and len(heard) == 3
    assert [path.name for path in tmp_path.rglob("*")] in (["shards"], ["shards", "shards.json"])
    assert signal.getsignal(signal.SIGTERM) is signal.SIG_DFL


@pytest.mark.parametrize("given", [["tag", "-"], ["tag", "-", "--batch-size", "2"]])
def test_what_came_before_a_bad_line_is_printed(
    given: list[str], command: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    content = io.BytesIO(b"A dog runs.\nIt is late.\nWe go.\n\xff\nMore\n")
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(content))
    done = command(*given)
    assert (done.status, done.out.count("\n")) == (2, 3) and "<stdin>:4: byte 1 is 0xFF" in done.err


def test_bytes_of_another_encoding_are_told_as_that(command: Command) -> None:
    failed(command("tag", "caf\udce9"), "text 1 holds bytes that are not in the locale's encoding; expected UTF-8")
