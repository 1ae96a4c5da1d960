"""An index on disk: vectors in buckets of cells that are near each other, and each bucket compared by itself.

A pair is found, as in `near_pairs`, if one's cell is among those that are nearest to the other. Each part of the rows
is written sorted by bucket, a vector in bytes into each bucket that one of its nearest cells is in; a bucket is then
compared by what all parts have in it.

Shape key: N vectors, D features, P pairs, K cells, B buckets.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from paraform.engines import rows_of
from paraform.neighbours.near_pairs import A_CELL, SLACK
from paraform.neighbours.pieces import (
    PAIR,
    Bytes,
    Numbers,
    Vectors,
    count_of,
    mapped,
    may_be_near,
    piece,
    rows_for,
    runs_of,
    save,
)
from paraform.weights import write_rows

BLOCK = 65_536  # entries of a bucket that are held at once: 29 MB of 384 features
ROUNDS = 10  # as faiss has for such an index
AT_ONCE = 4096  # vectors that are compared with all centres at once
TRAINED = 2**19  # vectors that cells are made of, at most, unless there are more cells: 800 MB of 384 features


@dataclass(frozen=True)
class Training:
    """The work, of one piece: the cells' centres, [K, D] in cells.npy, and the bucket of each, in buckets.npy."""

    vectors: Vectors
    folder: str
    cells: int
    buckets: int
    seed: int

    def open(self) -> Callable[[int], bytes]:
        """What makes the cells."""
        return self._train

    def _train(self, _: int) -> bytes:
        cells, buckets = Path(self.folder) / "cells.npy", Path(self.folder) / "buckets.npy"
        if not (buckets.is_file() and cells.is_file()):
            drawing = np.random.default_rng(self.seed)
            most = max(self.cells, min(self.vectors.rows, A_CELL * self.cells, rows_for(TRAINED, self.vectors.width)))
            drawn = np.sort(drawing.choice(self.vectors.rows, most, replace=False, shuffle=False))
            centres_KD = _centres(self.vectors.units(drawn), self.cells, self.seed)
            save(centres_KD, cells)
            # The centres' own cells: those of a bucket are near each other, and so are most that a vector is near to.
            nearest_K = np.argmax(centres_KD @ _centres(centres_KD, self.buckets, self.seed).T, axis=1)
            save(nearest_K.astype(np.int32), buckets)
        return b""


def _centres(units_ND: NDArray[np.float32], cells: int, seed: int) -> NDArray[np.float32]:
    """Of k-means on the sphere (Dhillon and Modha 2001): a quarter of faiss' time, whose products are slower here."""
    every_ND = torch.from_numpy(units_ND)
    drawn = np.sort(np.random.default_rng(seed).choice(len(units_ND), cells, replace=False))
    centres_KD = every_ND[torch.from_numpy(drawn)]
    for _ in range(ROUNDS):
        sums_KD = torch.zeros_like(centres_KD)
        for some_ND in torch.split(every_ND, AT_ONCE):
            sums_KD.index_add_(0, (some_ND @ centres_KD.T).argmax(1), some_ND)
        lengths_K1 = sums_KD.norm(dim=1, keepdim=True)
        centres_KD = torch.where(lengths_K1 > 0, sums_KD / lengths_K1.clamp_min(SLACK), centres_KD)
    found_KD: NDArray[np.float32] = centres_KD.numpy()
    return found_KD


def _entry(width: int, probed: int) -> np.dtype[Any]:
    """A vector in a bucket: its nearest cells, the very nearest, its own, first."""
    return np.dtype(
        [("row", "<i4"), ("scale", "<f4"), ("off", "<f4"), ("cells", "<i4", (probed,)), ("bytes", "i1", (width,))]
    )


@dataclass(frozen=True)
class Sorting:
    """The work: piece i holds the vectors of part i of the rows, sorted by bucket, each in all that it has cells in.

    Where each bucket begins is in starts-….npy, [B + 1].
    """

    vectors: Vectors
    folder: str
    buckets: int
    probed: int
    size: int

    def open(self) -> Callable[[int], bytes]:
        """What puts vectors into buckets."""
        centres_KD = np.array(mapped(Path(self.folder) / "cells.npy", np.float32))
        centres_DK, buckets_K = torch.from_numpy(centres_KD).T, _buckets(self.folder, len(centres_KD))

        def part(number: int) -> bytes:
            path = piece(self.folder, number)
            if not (path.is_file() and _starts(self.folder, number).is_file()):
                self._sort(number, centres_DK, buckets_K, path)
            return b""

        return part

    def _sort(self, number: int, centres_DK: Tensor, buckets_K: NDArray[np.int32], path: Path) -> None:
        first, last = rows_of(number, self.size, self.vectors.rows)
        entries: NDArray[Any] = np.empty(last - first, _entry(self.vectors.width, self.probed))
        for start in range(first, last, self.vectors.size):
            rows = np.arange(start, min(start + self.vectors.size, last))
            units_ND = self.vectors.units(rows)
            some = entries[start - first : start - first + len(rows)]  # where they will be
            some["row"] = rows
            some["cells"] = (torch.from_numpy(units_ND) @ centres_DK).topk(self.probed).indices.numpy()
            some["bytes"], some["scale"], some["off"] = Bytes.of(units_ND)
        ours = buckets_K[entries["cells"]]  # [N, probed]
        ours.sort(axis=1)
        new = np.ones(ours.shape, np.bool_)
        new[:, 1:] = ours[:, 1:] != ours[:, :-1]
        which, bucket = np.nonzero(new)[0], ours[new]
        order = np.argsort(bucket, kind="stable")
        save(np.searchsorted(bucket[order], np.arange(self.buckets + 1)), _starts(self.folder, number))
        save(entries[which[order]], path)


def _buckets(folder: str, cells: int | None = None) -> NDArray[np.int32]:
    """The bucket of each cell, [K]."""
    return np.array(mapped(Path(folder) / "buckets.npy", np.int32, cells))


def _starts(folder: str, number: int) -> Path:
    return Path(folder) / f"starts-{number:06d}.npy"


@dataclass(frozen=True)
class Comparing:
    """The work, by an index: piece i has the near pairs of the vectors whose own cell is in bucket i."""

    vectors: Vectors
    folder: str
    cells_folder: str
    parts: int
    probed: int
    threshold: float

    def open(self) -> Callable[[int], bytes]:
        """What compares a bucket in this process."""
        buckets_K = _buckets(self.cells_folder)

        def bucket(number: int) -> bytes:
            path = piece(self.folder, number)
            if not path.is_file():
                write_rows(path, runs_of(self.vectors, self._candidates(number, buckets_K), self.threshold), PAIR)
            return count_of(path)

        return bucket

    def _candidates(self, number: int, buckets_K: NDArray[np.int32]) -> Iterator[tuple[Numbers, Numbers]]:
        """A bucket that is larger than a block is read again for each of its blocks."""
        for own in self._blocks(number):
            own = own[buckets_K[own["cells"][:, 0]] == number]
            own = own[np.argsort(own["cells"][:, 0], kind="stable")]
            cells, starts = np.unique(own["cells"][:, 0], return_index=True)
            for others in self._blocks(number) if len(own) else ():
                yield from self._compare(own, cells, np.append(starts, len(own)), others)

    def _compare(
        self, own: NDArray[Any], cells: NDArray[np.int32], starts: Numbers, others: NDArray[Any]
    ) -> Iterator[tuple[Numbers, Numbers]]:
        """Each cell's own vectors with all that it is one of the nearest cells of."""
        at, place = np.nonzero(np.isin(others["cells"], cells))
        near = others["cells"][at, place]
        order = np.argsort(near, kind="stable")
        at, ends = at[order], np.searchsorted(near[order], cells, side="right")
        left, right = _bytes_of(others), _bytes_of(own)
        for number, end in enumerate(ends):
            asking, asked = at[ends[number - 1] if number else 0 : end], slice(starts[number], starts[number + 1])
            for one_P, other_P in may_be_near(left.only(asking), right.only(asked), self.threshold):
                one_P, other_P = asking[one_P], other_P + asked.start
                one, other = others["row"][one_P], own["row"][other_P]
                # It is found again from the other side if that asks, too: then the lower row's asking counts.
                both = (own["cells"][other_P] == others["cells"][one_P, :1]).any(1)
                kept = (one != other) & (~both | (one < other))
                yield one[kept].astype(np.int64), other[kept].astype(np.int64)

    def _blocks(self, number: int) -> Iterator[NDArray[Any]]:
        """The bucket's entries, in the order of the rows, `BLOCK` at most at once."""
        entry, block = _entry(self.vectors.width, self.probed), rows_for(BLOCK, self.vectors.width)
        waiting: list[NDArray[Any]] = []
        held = 0
        for part in range(self.parts):
            first, last = mapped(_starts(self.cells_folder, part), np.int64)[number : number + 2].tolist()
            while first < last:
                end = min(last, first + block - held)
                waiting.append(np.array(mapped(piece(self.cells_folder, part), entry)[first:end]))
                held, first = held + end - first, end
                if held == block:
                    yield np.concatenate(waiting)
                    waiting, held = [], 0
        if waiting:
            yield np.concatenate(waiting)


def _bytes_of(entries: NDArray[Any]) -> Bytes:
    return Bytes(*(entries[name].copy() for name in ("bytes", "scale", "off")))
