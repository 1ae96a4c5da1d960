"""Counts beside a shard: those of all shards add up, and a shard that is not what was written is told."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest

from paraform.engines.shards import Folder
from paraform.jobs.counts import read_counts, summed, write_counts
from paraform.records import InputError

COUNTS = [{"rows": 2, "without": {"b": 1}}, {"rows": 0, "without": {}}, {"rows": 3, "without": {"a": 2, "b": 1}}]


@pytest.fixture
def folder(tmp_path: Path) -> Folder:
    made = Folder(str(tmp_path), rows=3, size=1, suffix=".csv")
    for number, counts in enumerate(COUNTS):
        made.path(number).write_text(f"row {number}\n")
        write_counts(made, number, made.path(number), {**counts, "without": Counter(counts["without"])})
    return made


def test_counts_add_up(folder: Folder) -> None:
    every = [read_counts(folder, number) for number in range(3)]
    assert [json.loads(counts) for counts in every] == COUNTS
    assert summed(every) == {"rows": 5, "without": {"b": 2, "a": 2}} and list(summed(every)["without"]) == ["b", "a"]
    assert summed([]) == {}


@pytest.mark.parametrize(
    ("damage", "said"),
    [
        (lambda path: path.write_text("row 0"), "000000.csv: its SHA-256 is not the one in 000000.counts; expected"),
        (lambda path: path.with_suffix(".counts").unlink(), "000000.csv: no 000000.counts beside it; expected"),
        (lambda path: path.with_suffix(".counts").write_text("{"), "000000.counts:1: not JSON"),
        (lambda path: path.with_suffix(".counts").write_text("[]"), "000000.csv: its SHA-256 is not the one in"),
    ],
)
def test_what_is_damaged_is_named(damage: Callable[[Path], object], said: str, folder: Folder) -> None:
    damage(folder.path(0))
    with pytest.raises(InputError, match=said):
        read_counts(folder, 0)
