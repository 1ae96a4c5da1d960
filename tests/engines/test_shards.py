"""A folder of shards: what is missing is made, what is there is told, and what is another's is refused."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from paraform.engines import Engine, shards
from paraform.engines.shards import Folder, is_job, make_shards, require_job
from paraform.records import InputError


@dataclass(frozen=True)
class Numbers:
    """A shard holds its rows' numbers; what is told is how many. One that holds an "x" is damaged."""

    shards: Folder

    def open(self) -> Callable[[int, Path], None]:
        def write(number: int, path: Path) -> None:
            (Path(self.shards.folder) / f"made-{number}").touch()
            path.write_text(" ".join(map(str, range(*self.shards.rows_of(number)))))

        return write

    def told(self, number: int) -> bytes:
        content = self.shards.path(number).read_text()
        if content == "x":
            raise InputError(f"{self.shards.path(number)}: an x; remove it")
        return str(len(content.split())).encode()


@pytest.fixture
def work(tmp_path: Path) -> Numbers:
    return Numbers(Folder(str(tmp_path / "shards"), rows=10, size=4, suffix=".txt"))


def made(work: Numbers) -> list[int]:
    return sorted(int(path.name.split("-")[1]) for path in Path(work.shards.folder).glob("made-*"))


def test_shards_of_rows(work: Numbers) -> None:
    assert (len(work.shards), work.shards.missing()) == (3, (0, 1, 2))
    assert [work.shards.rows_of(number) for number in range(3)] == [(0, 4), (4, 8), (8, 10)]
    assert work.shards.path(2).name == "000002.txt"


def test_only_what_is_missing_is_made(work: Numbers, inline: None) -> None:
    assert list(make_shards(work, {"seed": 1}, engine=Engine())) == [b"4", b"4", b"2"]
    assert made(work) == [0, 1, 2]
    for path in Path(work.shards.folder).glob("made-*"):
        path.unlink()
    work.shards.path(1).unlink()
    work.shards.path(2).write_text("1 2 3")
    assert list(make_shards(work, {"seed": 1}, engine=Engine())) == [b"4", b"4", b"3"]
    assert made(work) == [1] and work.shards.path(1).read_text() == "4 5 6 7"


def test_a_damaged_shard_is_told_before_any_is_made(work: Numbers, inline: None) -> None:
    assert len(list(make_shards(work, {}, engine=Engine()))) == 3
    for path in [*Path(work.shards.folder).glob("made-*"), work.shards.path(0)]:
        path.unlink()
    work.shards.path(2).write_text("x")
    with pytest.raises(InputError, match=r"000002\.txt: an x; remove it"):
        next(make_shards(work, {}, engine=Engine()))
    assert made(work) == []


def test_a_job_is_what_it_says(work: Numbers) -> None:
    """What JSON makes of a job is the same job."""
    require_job(Path(work.shards.folder), {"terms": ("a", "b"), "how": {"beam": 1}})
    require_job(Path(work.shards.folder), {"terms": ["a", "b"], "how": {"beam": 1}})
    with pytest.raises(
        InputError, match=r"another job's shards \(terms \"\['a', 'b'\]\", and this job's is \"\['a'\]\""
    ):
        require_job(Path(work.shards.folder), {"terms": ("a",), "how": {"beam": 1}})
    with pytest.raises(InputError, match=r"another job's shards \(the file changed, or how it is read\)"):
        require_job(Path(work.shards.folder), {"terms": ("a", "b"), "how": {"beam": 1}, "input": "0"})


def test_of_two_jobs_that_begin_at_once_one_has_the_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The other has found it empty, too, before it wrote what it is."""
    write = shards.atomic_path

    def while_another_writes(path: Path) -> Any:
        monkeypatch.setattr(shards, "atomic_path", write)
        require_job(tmp_path, {"job": "another"})
        return write(path)

    monkeypatch.setattr(shards, "atomic_path", while_another_writes)
    with pytest.raises(InputError, match=r"another job's shards \(job 'another', and this job's is 'mine'\)"):
        require_job(tmp_path, {"job": "mine"})
    require_job(tmp_path, {"job": "another"})
    assert [path.name for path in tmp_path.iterdir()] == ["shards.json"]


def test_without_links_a_folder_is_a_jobs_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def no_link(*_: object) -> None:
        raise PermissionError

    monkeypatch.setattr("os.link", no_link)
    require_job(tmp_path, {"job": "mine"})
    assert is_job(tmp_path, {"job": "mine"}) and [path.name for path in tmp_path.iterdir()] == ["shards.json"]


def test_workers_end_with_the_shards(work: Numbers, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever took the last one has exhausted what computes them: there they are counted, and gone."""
    ended = []

    def run(work: Any, count: int, **_: Any) -> Iterator[bytes]:
        compute = work.open()
        yield from (compute(chunk) for chunk in range(count))
        ended.append(count)

    monkeypatch.setattr(shards, "run", run)
    assert len(list(make_shards(work, {}, engine=Engine()))) == 3 and ended == [3]
