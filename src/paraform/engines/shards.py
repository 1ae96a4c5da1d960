"""A folder of shards: the files of a job in chunks, each whole or absent, so that a job that was killed goes on.

Shard i is of the rows i · size … of the input. It is left alone where it is there already. `shards.json` says what the
shards are of, and what they hold depends on that alone: not on the engine, nor on the number of workers.

It stands outside the package's `__init__`: torch, which it brings along, would come before a Ray worker is told how
many threads it has.
"""

from __future__ import annotations

import hashlib
import json
import os
import secrets
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from paraform.engines.running import Engine, rows_of, run
from paraform.json_text import parse_json
from paraform.records import InputError
from paraform.weights import atomic_path

NAME = "shards.json"
FORMAT = 1


@dataclass(frozen=True)
class Folder:
    """Where shards are, and of how many rows.

    Args:
        folder: on a cluster every machine has it.
        rows: of the input.
        size: rows of a shard; the last one has what is left.
        suffix: what a shard's name ends in, ".csv" say.
    """

    folder: str
    rows: int
    size: int
    suffix: str

    def __len__(self) -> int:
        return -(-self.rows // self.size)

    def path(self, number: int) -> Path:
        """Where a shard is."""
        return Path(self.folder) / f"{number:06d}{self.suffix}"

    def rows_of(self, number: int) -> tuple[int, int]:
        """The first row of a shard and the row after its last."""
        return rows_of(number, self.size, self.rows)

    def missing(self) -> tuple[int, ...]:
        """Those that are not there."""
        return tuple(number for number in range(len(self)) if not self.path(number).is_file())


def require_job(folder: Path, job: Mapping[str, Any]) -> None:
    """The folder is that job's from now on, if it is new or empty. `is_job` explains the rest."""
    if is_job(folder, job):
        return
    path = folder / NAME
    mine = folder / f".{NAME}.{secrets.token_hex(4)}"
    with atomic_path(mine) as unfinished:
        text = json.dumps({"format": FORMAT, **job}, indent=2, ensure_ascii=False)
        unfinished.write_text(f"{text}\n", encoding="utf-8")
    try:
        os.link(mine, path)  # unlike a rename, it does not take the place of what another has put there meanwhile
    except FileExistsError:
        pass
    except OSError:  # a file system without such links
        os.replace(mine, path)
    mine.unlink(missing_ok=True)
    is_job(folder, job)


def is_job(folder: Path, job: Mapping[str, Any]) -> bool:
    """Whether the folder is that job's; False: it is new or empty.

    Args:
        job: all that its files depend on, by name; of the digest of what is read the name is "input".
    Raises: InputError for a folder of another job's, or of other files.
    """
    path, mine = folder / NAME, json.loads(json.dumps({"format": FORMAT, **job}))
    if not path.is_file():
        if folder.is_dir() and (other := [name for name in sorted(os.listdir(folder)) if not name.startswith(".")]):
            raise InputError(f"{folder}: holds {other[0]} and no {NAME}; expected a new or an empty folder")
        return False
    theirs = parse_json(path.read_bytes(), path, "what paraform wrote there")
    if not isinstance(theirs, dict):
        raise InputError(f"{path}: no object; expected what paraform wrote there")
    for key, value in mine.items():
        if (found := theirs.get(key)) != value:
            came = f"{key} {str(found)[:200]!r}, and this job's is {str(value)[:200]!r}"
            if key == "input":  # a digest says nothing to a person
                came = "the file changed, or how it is read"
            raise InputError(f"{folder}: holds another job's shards ({came}); expected a folder of its own")
    return True


def job_digest(job: Mapping[str, Any]) -> str:
    """What tells jobs apart, as `is_job` has them: a SHA-256."""
    return hashlib.sha256(json.dumps(job, sort_keys=True).encode()).hexdigest()


class ShardWork(Protocol):
    """What makes shards: a frozen dataclass at the top level of a module that workers can import."""

    @property
    def shards(self) -> Folder:
        """Where they are."""
        ...

    def open(self) -> Callable[[int, Path], None]:
        """Load what is needed, once in each worker process that has a shard to make.

        Returns: what writes a shard, of its number and of nothing else, as that file.
        """
        ...

    def told(self, number: int) -> bytes:
        """What the driver is told of a shard that is there. Raises: InputError if it is not what was written."""
        ...


def make_shards(
    work: ShardWork, job: Mapping[str, Any], *, engine: Engine, progress: str | None = None
) -> Iterator[bytes]:
    """Make the shards that are not there yet; what is told of each, those that were there too, in their order.

    Args:
        job: as `require_job` has it.
        progress: what stderr is told is done; None: nothing.
    Raises: InputError for a folder of another job's, or of other files, and for a shard that is damaged: before any is
        made.
    """
    shards = work.shards
    require_job(Path(shards.folder), job)
    missing = shards.missing()
    absent = {*missing}
    there = {number: work.told(number) for number in range(len(shards)) if number not in absent}
    made = run(Missing(work, missing), len(missing), engine=engine, progress=progress)
    for number in range(len(shards)):
        yield there[number] if number in there else next(made)
    next(made, None)  # at its end its workers end, too


@dataclass(frozen=True)
class Missing:
    """The work of an engine: chunk i is the i-th of the shards that were not there; its result what is told of it."""

    work: ShardWork
    numbers: tuple[int, ...]

    def open(self) -> Callable[[int], bytes]:
        """What makes a shard in this process."""
        write = self.work.open()

        def made(chunk: int) -> bytes:
            number = self.numbers[chunk]
            path = self.work.shards.path(number)
            if not path.is_file():  # a worker that died may have finished it
                with atomic_path(path) as unfinished:
                    write(number, unfinished)
            return self.work.told(number)

        return made
