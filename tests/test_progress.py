"""A line a minute where nobody watches a bar, over parts of work and work within work; nothing for what is short."""

from __future__ import annotations

import io
import random
import sys
from collections.abc import Iterator
from types import SimpleNamespace

import pytest

from paraform import progress
from paraform.progress import track


class Clock:
    """Seconds that pass when they are told to."""

    def __init__(self) -> None:
        self.now = 1000.0

    def takes(self, seconds: float, items: Iterator[int]) -> list[int]:
        """Go through the items, each of which takes so long."""
        out = []
        for item in items:
            self.now += seconds
            out.append(item)
        return out


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    made = Clock()
    monkeypatch.setattr(progress, "time", SimpleNamespace(monotonic=lambda: made.now))
    monkeypatch.setattr(progress, "_clock", progress._Clock(0.0, 0.0))
    return made


def test_a_line_for_each_minute(clock: Clock, capsys: pytest.CaptureFixture[str]) -> None:
    assert clock.takes(25, track(range(10), "embedding", show=True)) == [*range(10)]
    assert capsys.readouterr().err.splitlines() == [
        "paraform: embedding, 30 %, about 3 min left",
        "paraform: embedding, 60 %, about 2 min left",
        "paraform: embedding, 90 %, under a minute left",
    ]


def test_without_a_length_parts_are_counted(clock: Clock, capsys: pytest.CaptureFixture[str]) -> None:
    assert clock.takes(61, track(iter([1, 2, 3]), "tagging", show=True)) == [1, 2, 3]
    assert capsys.readouterr().err == "paraform: tagging, part 2\nparaform: tagging, part 3\n"
    clock.takes(61, track(iter([1, 2]), "tagging", show=True, total=2))
    assert "50 %" in capsys.readouterr().err


def test_parts_of_one_work_share_a_minute(clock: Clock, capsys: pytest.CaptureFixture[str]) -> None:
    for _ in range(7):
        clock.takes(5, track(range(2), "embedding", show=True))
    assert capsys.readouterr().err == "paraform: embedding, 0 %\n"  # at the seventh part's first


def test_work_within_work(clock: Clock, capsys: pytest.CaptureFixture[str]) -> None:
    for _ in track(range(2), "outer", show=True):
        clock.takes(20, track(range(4), "inner", show=True))
    assert [line.split(",")[0] for line in capsys.readouterr().err.splitlines()] == [
        "paraform: inner",
        "paraform: inner",
    ]


def test_a_command_is_new_work(clock: Clock, capsys: pytest.CaptureFixture[str]) -> None:
    clock.takes(59, track(range(1), "embedding", show=True))
    progress.begin()
    clock.takes(59, track(range(2), "embedding", show=True))
    assert not capsys.readouterr().err


def test_after_a_pause_the_first_line_waits(clock: Clock, capsys: pytest.CaptureFixture[str]) -> None:
    clock.takes(1, track(range(2), "embedding", show=True))
    clock.now += 61
    clock.takes(1, track(range(2), "embedding", show=True))
    assert not capsys.readouterr().err


def test_other_work_between_parts_counts(clock: Clock, capsys: pytest.CaptureFixture[str]) -> None:
    for _ in range(6):
        clock.takes(20, track(range(2), "embedding", show=True))
        clock.now += 15  # something is fitted to them
    assert len(capsys.readouterr().err.splitlines()) == 3  # of five and a half minutes, at the items only


def test_the_work_goes_on_where_nobody_reads(clock: Clock, monkeypatch: pytest.MonkeyPatch) -> None:
    class Broken:
        def write(self, text: str) -> None:
            raise BrokenPipeError

    closed = io.StringIO()
    closed.close()
    for stream in (Broken(), closed):
        with monkeypatch.context() as patched:
            patched.setattr(sys, "stderr", stream)
            assert clock.takes(61, track(range(3), "embedding", show=True)) == [0, 1, 2]


def test_nothing_where_it_is_not_wanted_or_cannot_be_seen(
    clock: Clock, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    clock.takes(100, track(range(3), "embedding", show=False))
    assert not capsys.readouterr().err
    monkeypatch.setattr(sys, "stderr", None)
    assert clock.takes(100, track(range(3), "embedding", show=True)) == [0, 1, 2]
    monkeypatch.undo()
    assert not capsys.readouterr().out


def test_a_bar_on_a_terminal(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    monkeypatch.setenv("TERM", "xterm")
    random.seed(0)
    before = random.getstate()
    assert list(track(range(3), "embedding", show=True)) == [0, 1, 2] and random.getstate() == before
    assert "embedding" in capsys.readouterr().err
