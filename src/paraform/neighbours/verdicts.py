"""Near pairs in pieces on disk, in order, and what came of each: which differ in what, which a judge refuses.

Shape key: P pairs, R texts that were compared.
"""

from __future__ import annotations

import heapq
import itertools
import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from paraform.checkpoint.folder import checkpoint_digest, load
from paraform.corpora.columns import ArrowColumns
from paraform.encoders.torch_settings import PRODUCTS
from paraform.memory import keep_freed_memory
from paraform.neighbours.apart import KINDS, Kind, differs
from paraform.neighbours.duplicates import JUDGED, ROWS, judged
from paraform.neighbours.pieces import PAIR, RUN, mapped, piece
from paraform.records import InputError
from paraform.weights import write_rows

LOOKED_AT = 8192  # pairs whose texts are held at once
MERGED = 2**18  # pairs held at once while those of all pieces are put in order
COUNTED = 2**20  # pairs held at once in no order
Why: TypeAlias = Kind | Literal["meaning"]
WHY: tuple[Why | None, ...] = (None, *KINDS, JUDGED)  # what a verdict's `why` counts from; 0: it is a pair
VERDICT = np.dtype([("why", "u1"), ("same", "<f4")])


class Pair(NamedTuple):
    """A pair of rows, and its cosine; `same` as in `Duplicates`, 1 without a judge."""

    one: int
    other: int
    cosine: float
    same: float


@dataclass(frozen=True)
class Source:
    """Pairs in pieces, and what came of each.

    Args:
        pieces: how many.
        rows: a file, which row of the corpus each number of the pairs is; "": they are rows.
        verdicts: a folder with a `VERDICT` for each; "": all stay.
        merged: whether pairs of all pieces, in runs that are each sorted, come in order; else piece after piece.
    """

    folder: str
    pieces: int
    rows: str
    verdicts: str
    merged: bool

    def parts(self) -> Iterator[tuple[NDArray[np.int32], NDArray[np.uint8]]]:
        """Of some pairs at a time the rows, [P, 2], and why each is none; 0: it is one."""
        for number in range(self.pieces):
            for pairs_P, verdicts_P in self.blocks(number, COUNTED):
                yield np.stack([pairs_P["one"], pairs_P["other"]], 1), verdicts_P["why"]

    def in_order(self) -> Iterator[Pair]:
        """Those that stay."""
        counts = [len(mapped(piece(self.folder, number), PAIR)) for number in range(self.pieces)]
        runs = [(number, first) for number, count in enumerate(counts) for first in range(0, count, RUN)]
        every = (self._kept(*run, max(16, MERGED // len(runs))) for run in runs)
        keyed = heapq.merge(*every) if self.merged else itertools.chain.from_iterable(every)
        return (Pair(one, other, -key, same) for key, one, other, same in keyed)

    def _kept(self, number: int, first: int, size: int) -> Iterator[tuple[float, int, int, float]]:
        for pairs_P, verdicts_P in self.blocks(number, size, first, first + RUN):
            kept = verdicts_P["why"] == 0
            some = pairs_P[kept]
            columns = (-some["cosine"], some["one"], some["other"], verdicts_P["same"][kept])
            yield from zip(*(column.tolist() for column in columns), strict=True)

    def blocks(
        self, number: int, size: int, begin: int = 0, end: int | None = None
    ) -> Iterator[tuple[NDArray[Any], NDArray[Any]]]:
        """So many pairs of a piece at a time, their numbers those of rows. Files are mapped anew for each."""
        count = len(mapped(piece(self.folder, number), PAIR))
        end = count if end is None else min(end, count)
        for first in range(begin, end, size):
            last = min(first + size, end)
            pairs_P = np.array(mapped(piece(self.folder, number), PAIR)[first:last])
            if self.rows:
                row_R = mapped(self.rows, np.int32)
                pairs_P["one"], pairs_P["other"] = row_R[pairs_P["one"]], row_R[pairs_P["other"]]
            verdicts_P = np.ones(len(pairs_P), VERDICT)
            verdicts_P["why"] = 0
            if self.verdicts:
                verdicts_P = np.array(mapped(piece(self.verdicts, number), VERDICT, count)[first:last])
            yield pairs_P, verdicts_P


@dataclass(frozen=True)
class Judging:
    """The work: piece i says what came of each pair of piece i, as `VERDICT` has it.

    Args:
        arrow: the corpus.
        keep_apart, verify, verify_threshold, batch_size: as in `duplicates`; verify: the judge's name; "": none.
        weights: what `checkpoint_digest` says of the judge.
        by_minilm: whether the cosines are minilm's own, which a judge need not make again.
        products: the numbers of matrix products, as `$PARAFORM_PRODUCTS` has them.
    """

    source: Source
    arrow: str
    folder: str
    keep_apart: tuple[Kind, ...]
    verify: str
    weights: str
    verify_threshold: float
    by_minilm: bool
    batch_size: int
    device: str
    products: str

    def open(self) -> Callable[[int], bytes]:
        """What looks at the pairs of a piece in this process. Raises: InputError if its judge is not the driver's."""
        os.environ[PRODUCTS] = self.products  # the driver's choice, on every machine
        keep_freed_memory()
        corpus = ArrowColumns(self.arrow)
        if self.verify and (found := checkpoint_digest(self.verify)) != self.weights:
            came = f"a worker's {self.verify} is {found[:12]}; expected {self.weights[:12]}"
            raise InputError(f"{came}: the same files on every machine")
        judge = load(self.verify, device=self.device) if self.verify else None

        def parts(number: int) -> Iterator[NDArray[Any]]:
            yield np.zeros(0, VERDICT)
            for pairs_P, _ in self.source.blocks(number, LOOKED_AT):
                rows, at = np.unique(np.stack([pairs_P["one"], pairs_P["other"]], 1), return_inverse=True)
                texts = corpus.take(rows, "text")["text"]
                near = [(texts[one], texts[other]) for one, other in at.reshape(-1, 2).tolist()]
                yield self._verdicts(near, pairs_P["cosine"], judge)

        def look(number: int) -> bytes:
            path = piece(self.folder, number)
            if not path.is_file():
                write_rows(path, parts(number), VERDICT)
            return b""

        return look

    def _verdicts(self, near: list[tuple[str, str]], cosines_P: NDArray[np.float32], judge: Any) -> NDArray[Any]:
        found_P = np.ones(len(near), VERDICT)
        found_P["why"] = [WHY.index(differs(*pair, self.keep_apart) if self.keep_apart else None) for pair in near]
        if judge is not None:
            left = np.flatnonzero(found_P["why"] == 0)
            known = cosines_P[left] if self.by_minilm else None
            same = judged([near[at] for at in left.tolist()], judge, known, self.batch_size or ROWS, False)
            found_P["same"][left] = same
            found_P["why"][left[same < self.verify_threshold]] = WHY.index(JUDGED)
        return found_P
