"""All pairs of vectors whose cosine reaches a threshold, of vectors in shards on disk: in pieces, by any engine.

Exact: each block of rows with each. By an index: in buckets (`cells`). What may be near is found in bytes and looked at
again in float32 (`pieces`), so that neither a worker nor who waits for them holds more than some blocks. Each piece is
written whole, or not at all, and left alone where it is there. What it holds depends on the vectors and the settings.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from paraform.engines import LOCAL, Engine, Work, rows_of, run
from paraform.engines.shards import require_job
from paraform.neighbours import near_pairs as memory
from paraform.neighbours.cells import Comparing, Sorting, Training
from paraform.neighbours.near_pairs import Search
from paraform.neighbours.pieces import PAIR, Bytes, Checked, Vectors, count_of, mapped, may_be_near, piece, save
from paraform.records import InputError
from paraform.weights import PathLike

EXACT_ROWS = 16_384  # of a block that is compared with each block before it
BUCKET = 16_384  # vectors of a bucket, about
PART = 32_768  # rows that are put into buckets at once
MOST_PAIRS = 10**9  # 12 GB of them; who wants more wants a higher threshold


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
            found = Checked(self.vectors, self.threshold)
            own, first = self._block(number), number * self.size
            for before in range(number + 1):
                other = own if before == number else self._block(before)
                for one_P, other_P in may_be_near(own, other, self.threshold):
                    here_P = one_P + first > other_P + before * self.size
                    found.add(one_P[here_P] + first, other_P[here_P] + before * self.size)
            save(found.pairs(), path)
        return count_of(path)

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
    seed: int


class Near(NamedTuple):
    """What was found.

    Args:
        counts: pairs of each piece.
        search: how.
    """

    folder: str
    counts: list[int]
    search: Literal["exact", "index"]

    def piece(self, number: int) -> NDArray[Any]:
        """The pairs of a piece, nearest first, as `PAIR` has them: mapped, not read."""
        return mapped(piece(self.folder, number), PAIR)


def search_for(rows: int, search: Search) -> Literal["exact", "index"]:
    """How so many vectors are compared. Raises: InputError for a search that is none."""
    if search not in memory.SEARCHES:
        raise InputError(f"search {str(search)[:40]!r}; expected {', '.join(memory.SEARCHES)}")
    return "exact" if search == "exact" or (search == "auto" and rows <= memory.EXACT) else "index"


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
    """The pairs of `near_pairs`, which explains threshold, search and seed, into the folders cells and pairs there.

    An index has as many cells, made of a part of the vectors, and needs no faiss.

    Raises: InputError as `near_pairs`, or for a folder of other vectors' or of other settings.
    """
    memory.require_threshold(threshold)
    chosen, base = search_for(vectors.rows, search), Path(folder).resolve()
    sorted_, pairs = str(base / "cells"), str(base / "pairs")
    if not vectors.rows:
        return Near(pairs, [], chosen)
    cells = memory.cells_for(vectors.rows) if chosen == "index" else 0
    probed, size = min(cells, memory.PROBED), EXACT_ROWS if chosen == "exact" else BUCKET
    job = Pairs(vectors.of, vectors.rows, vectors.width, threshold, chosen, cells, probed, size, seed)
    require_job(Path(pairs), asdict(job))
    work: Work
    if chosen == "exact":
        work, count = Every(vectors, pairs, threshold, size), -(-vectors.rows // size)
    else:
        count, parts = max(1, min(cells, round(vectors.rows / size))), -(-vectors.rows // PART)
        in_cells = Cells(vectors.of, vectors.rows, vectors.width, cells, probed, count, PART, seed)
        require_job(Path(sorted_), asdict(in_cells))
        every: list[tuple[Work, int, str]] = [
            (Training(vectors, sorted_, cells, count, seed), 1, "making cells"),
            (Sorting(vectors, sorted_, count, probed, PART), parts, "sorting"),
        ]
        for making, pieces, what in every:
            for _ in run(making, pieces, engine=engine, progress=what if progress else None):
                pass
        work = Comparing(vectors, pairs, sorted_, parts, probed, threshold)
    results = run(work, count, engine=engine, progress="comparing" if progress else None)
    counts: list[int] = []
    for result in results:
        counts.append(int(np.frombuffer(result, np.int64)[0]))
        if sum(counts) > MOST_PAIRS:
            raise InputError(
                f"over {MOST_PAIRS:,} pairs have a cosine of {threshold:g} or more; expected a higher threshold"
            )
    return Near(pairs, counts, chosen)
