"""All pairs of vectors whose cosine reaches a threshold, of vectors in shards on disk: in pieces, by any engine.

Exact: each block of rows with each. By an index: in buckets (`cells`). What may be near is found in bytes and looked at
again in float32 (`pieces`), so that neither a worker nor who waits for them holds more than some blocks. Each piece is
written whole, or not at all, and left alone where it is there. What it holds depends on the vectors and the settings.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Literal, NamedTuple

import numpy as np

from paraform.engines import LOCAL, Engine, Work, rows_of, run
from paraform.engines.shards import job_digest, require_job
from paraform.neighbours.cells import Comparing, Sorting, Training
from paraform.neighbours.near_pairs import EXACT, PROBED, SEARCHES, Search, cells_for, require_threshold
from paraform.neighbours.pieces import (
    MOST_PAIRS,
    PAIR,
    RUN,
    Bytes,
    Numbers,
    Vectors,
    count_of,
    mapped,
    may_be_near,
    piece,
    rows_for,
    runs_of,
    too_many,
)
from paraform.records import InputError
from paraform.weights import PathLike, write_rows

# Of 384 features; of wider vectors fewer (`pieces.rows_for`).
EXACT_ROWS = 16_384  # of a block that is compared with each block before it
BUCKET = 16_384  # vectors of a bucket, about
PART = 32_768  # rows that are put into buckets at once


@dataclass(frozen=True)
class Every:
    """The work, exact: piece i has the near pairs of block i with itself and those before it."""

    vectors: Vectors
    folder: str
    threshold: float
    size: int

    def open(self) -> Callable[[int], bytes]:
        """What compares a block in this process."""
        return self._piece

    def _piece(self, number: int) -> bytes:
        path = piece(self.folder, number)
        if not path.is_file():
            write_rows(path, runs_of(self.vectors, self._candidates(number), self.threshold), PAIR)
        return count_of(path)

    def _candidates(self, number: int) -> Iterator[tuple[Numbers, Numbers]]:
        own, first = self._block(number), number * self.size
        for before in range(number + 1):
            other = own if before == number else self._block(before)
            for one_P, other_P in may_be_near(own, other, self.threshold):
                here_P = one_P + first > other_P + before * self.size
                yield one_P[here_P] + first, other_P[here_P] + before * self.size

    def _block(self, number: int) -> Bytes:
        return Bytes.of(self.vectors.units(np.arange(*rows_of(number, self.size, self.vectors.rows))))


@dataclass(frozen=True)
class Cells:
    """What a folder of cells is of: settings of `near_pairs_on_disk`."""

    vectors: str
    rows: int
    width: int
    cells: int
    probed: int
    buckets: int
    part: int
    seed: int


@dataclass(frozen=True)
class Pairs:
    """What a folder of pairs is of."""

    vectors: str
    rows: int
    width: int
    threshold: float
    search: str
    cells: int
    probed: int
    size: int
    run: int
    seed: int


class Near(NamedTuple):
    """What was found.

    Args:
        folder: with a file for each piece, of runs as `pieces.runs_of` has them.
        of: says which pairs these are: of which vectors, and found how.
        counts: pairs of each piece.
    """

    folder: str
    of: str
    counts: list[int]


def search_for(rows: int, search: Search) -> Literal["exact", "index"]:
    """How so many vectors are compared. Raises: InputError for a search that is none."""
    if search not in SEARCHES:
        raise InputError(f"search {str(search)[:40]!r}; expected {', '.join(SEARCHES)}")
    return "exact" if search == "exact" or (search == "auto" and rows <= EXACT) else "index"


def cells_on_disk(rows: int, width: int) -> tuple[int, int]:
    """How many parts the cells of so many vectors are in, and at most how many bytes."""
    return -(-rows // rows_for(PART, width)), rows * PROBED * (width + 44)


def near_pairs_on_disk(
    vectors: Vectors,
    folder: PathLike,
    threshold: float,
    *,
    search: Search = "auto",
    seed: int = 0,
    engine: Engine = LOCAL,
    progress: bool = False,
) -> Near:
    """The pairs of `near_pairs`, which explains threshold, search and seed, into the folders cells and pairs-… there.

    An index has as many cells as there, made by k-means of its own, so that what it misses is not the same; it needs no
    faiss. Pairs of another threshold have another folder, of the same cells.

    Raises: InputError as `near_pairs`, of `MOST_PAIRS` here, or for a folder of other vectors'.
    """
    require_threshold(threshold)
    chosen, base, width = search_for(vectors.rows, search), Path(folder).resolve(), vectors.width
    cells = cells_for(vectors.rows) if chosen == "index" else 0
    probed, size = min(cells, PROBED), rows_for(EXACT_ROWS if chosen == "exact" else BUCKET, width)
    job = Pairs(
        vectors=vectors.of,
        rows=vectors.rows,
        width=width,
        threshold=threshold,
        search=chosen,
        cells=cells,
        probed=probed,
        size=size,
        run=RUN,
        seed=seed,
    )
    of = job_digest(asdict(job))
    pairs, cells_folder = str(base / f"pairs-{of[:8]}"), str(base / "cells")
    if not vectors.rows:
        return Near(pairs, of, [])
    require_job(Path(pairs), asdict(job))
    work: Work
    if chosen == "exact":
        work, count = Every(vectors, pairs, threshold, size), -(-vectors.rows // size)
    else:
        count, part = max(1, min(cells, round(vectors.rows / size))), rows_for(PART, width)
        parts, _ = cells_on_disk(vectors.rows, width)
        in_cells = Cells(
            vectors=vectors.of,
            rows=vectors.rows,
            width=width,
            cells=cells,
            probed=probed,
            buckets=count,
            part=part,
            seed=seed,
        )
        require_job(Path(cells_folder), asdict(in_cells))
        every: list[tuple[Work, int, str]] = [
            (Training(vectors, cells_folder, cells, count, seed), 1, "making cells"),
            (Sorting(vectors, cells_folder, count, probed, part), parts, "sorting"),
        ]
        for making, pieces, what in every:
            for _ in run(making, pieces, engine=engine, progress=what if progress else None):
                pass
        work = Comparing(vectors, pairs, cells_folder, parts, probed, threshold)
    results = run(work, count, engine=engine, progress="comparing" if progress else None)
    counts: list[int] = []
    for result in results:
        counts.append(int(np.frombuffer(result, np.int64)[0]))
        if sum(counts) > MOST_PAIRS:
            largest = mapped(piece(pairs, int(np.argmax(counts))), PAIR)
            raise too_many(vectors, largest[:RUN], threshold)
    return Near(pairs, of, counts)
