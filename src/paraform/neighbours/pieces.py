"""Vectors in shards on disk, pairs of them that may be near, and those that are: what a worker holds of both.

Shape key: N vectors, D features, Q and C rows of two blocks, P pairs.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias

import numpy as np
import torch
from numpy.typing import NDArray

from paraform.evaluation.content import unit
from paraform.int8 import Int8Matrix, has_int8
from paraform.neighbours.near_pairs import CHECKED, SLACK, cosines_of, true_cells
from paraform.records import InputError
from paraform.weights import PathLike, atomic_path, map_array

ROWS, COLUMNS = 1024, 4096  # of a tile of cosines
CANDIDATES = 2**20  # pairs that are looked at again at once
TAKEN = 2**18  # pairs that may be near, of a tile where all do, that come at once
RUN = 2**21  # pairs of a piece that are sorted together, and written: 25 MB
MOST_PAIRS = 10**9  # 12 GB of them; who wants more wants a higher threshold
WIDTH = 384  # features of the vectors of which numbers of rows are told

PAIR = np.dtype([("cosine", "<f4"), ("one", "<i4"), ("other", "<i4")])
Numbers: TypeAlias = NDArray[np.int64]


class Vectors(NamedTuple):
    """Vectors in shards, as `checkpoint.shards` writes .npy ones.

    Args:
        folder: of the shards.
        rows: in all.
        size: rows of a shard.
        width: features.
        of: says which vectors these are: others may not be compared in the same folder.
        names: a file, which text of a corpus each is of, from 0; "": they are all of its texts.
    """

    folder: str
    rows: int
    size: int
    width: int
    of: str
    names: str = ""

    def units(self, rows: NDArray[np.int64]) -> NDArray[np.float32]:
        """Those of the rows, each divided by its length, [N, D]. Raises: InputError for NaN or infinity."""
        found_ND = np.empty((len(rows), self.width), np.float32)
        shards = rows // self.size
        for number in np.unique(shards).tolist():
            path, here = Path(self.folder) / f"{number:06d}.npy", shards == number
            some = map_array(path)[rows[here] - number * self.size]
            if not np.isfinite(some).all():
                raise InputError(f"{path}: NaN or infinity; expected finite vectors")
            found_ND[here] = unit(some)
        return found_ND


class Bytes(NamedTuple):
    """Vectors of length 1 in bytes: u = scale · bytes + e.

    Args:
        bytes_ND: int8, -127 to 127.
        scales_N: what one step of each is worth.
        off_N: ‖e‖.
    """

    bytes_ND: NDArray[np.int8]
    scales_N: NDArray[np.float32]
    off_N: NDArray[np.float32]

    @classmethod
    def of(cls, units_ND: NDArray[np.float32]) -> Bytes:
        """The nearest."""
        scales_N = np.maximum(np.abs(units_ND).max(axis=1, initial=0), np.float32(SLACK)) / np.float32(127)
        rounded_ND = np.rint(units_ND / scales_N[:, None])
        off_N = np.linalg.norm(units_ND - rounded_ND * scales_N[:, None], axis=1)
        return cls(rounded_ND.astype(np.int8), scales_N, off_N.astype(np.float32))

    def only(self, rows: NDArray[np.int64] | slice) -> Bytes:
        """Some of them."""
        return Bytes(self.bytes_ND[rows], self.scales_N[rows], self.off_N[rows])


def may_be_near(left: Bytes, right: Bytes, threshold: float) -> Iterator[tuple[Numbers, Numbers]]:
    """Rows of both sides whose cosine may be `threshold`, a tile at a time; none that is goes missing.

    For u = a + e and v = b + f, where a and b are in bytes, |u·v − a·b| = |e·v + a·f| ≤ ‖e‖ + (1 + ‖e‖) ‖f‖.
    """
    fast = has_int8(torch.device("cpu"))
    for first in range(0, len(right.scales_N), COLUMNS):
        some = right.only(slice(first, first + COLUMNS))
        scales_C = torch.from_numpy(some.scales_N)
        right_CD = torch.from_numpy(some.bytes_ND)
        packed = Int8Matrix.of(right_CD, scales_C) if fast else None
        off = float(some.off_N.max(initial=0))
        for start in range(0, len(left.scales_N), ROWS):
            part = left.only(slice(start, start + ROWS))
            least_Q = (threshold - SLACK - part.off_N - (1 + part.off_N) * off) / part.scales_N
            if packed is not None:
                products_QC = packed.product(torch.from_numpy(part.bytes_ND.view(np.uint8) ^ np.uint8(128)), 128)
            else:
                products_QC = (torch.from_numpy(part.bytes_ND).float() @ right_CD.float().T) * scales_C
            for near_P2 in torch.split(true_cells(products_QC >= torch.from_numpy(least_Q)[:, None]), TAKEN):
                yield near_P2[:, 0].numpy() + start, near_P2[:, 1].numpy() + first


def runs_of(
    vectors: Vectors, candidates: Iterable[tuple[Numbers, Numbers]], threshold: float
) -> Iterator[NDArray[Any]]:
    """What may be near is looked at again in float32; what is near comes as `PAIR`, `RUN` at a time and the rest.

    Args:
        candidates: rows that may be near, each pair once.
    Returns: one at least; each sorted by itself, nearest first.
    Raises: InputError for more than `MOST_PAIRS`.
    """
    kept, held, count = [np.zeros(0, PAIR)], 0, 0
    for pairs_P2 in _gathered(candidates):
        for found_P in _near(vectors, pairs_P2, threshold):
            kept.append(found_P)
            held += len(found_P)
        while held >= RUN:
            every_P = np.concatenate(kept)
            run_P, kept, held, count = every_P[:RUN], [every_P[RUN:]], held - RUN, count + RUN
            if count > MOST_PAIRS:
                raise too_many(vectors, run_P, threshold)
            yield _nearest_first(run_P)
    yield _nearest_first(np.concatenate(kept))


def too_many(vectors: Vectors, pairs_P: NDArray[Any], threshold: float) -> InputError:
    """What is said of more pairs than `MOST_PAIRS`, some of which are these: where most of them are, too."""
    rows, counts = np.unique(pairs_P["one"], return_counts=True)
    row = int(rows[counts.argmax()])
    row = int(mapped(vectors.names, np.int32)[row]) if vectors.names else row
    return InputError(
        f"over {MOST_PAIRS:,} pairs have a cosine of {threshold:g} or more, very many of them with text {row + 1:,};"
        " expected a higher threshold, or fewer texts like that one"
    )


def _gathered(candidates: Iterable[tuple[Numbers, Numbers]]) -> Iterator[Numbers]:
    """`CANDIDATES` or more at a time, [P, 2], the lower row first."""
    waiting, held = [np.zeros((0, 2), np.int64)], 0
    for one_P, other_P in candidates:
        waiting.append(np.stack([np.minimum(one_P, other_P), np.maximum(one_P, other_P)], 1))
        held += len(one_P)
        if held >= CANDIDATES:
            yield np.concatenate(waiting)
            waiting, held = [], 0
    if held:
        yield np.concatenate(waiting)


def _near(vectors: Vectors, pairs_P2: Numbers, threshold: float) -> Iterator[NDArray[Any]]:
    rows, at = np.unique(pairs_P2, return_inverse=True)
    units_ND = torch.from_numpy(vectors.units(rows))
    for some_P2 in torch.split(torch.from_numpy(at.reshape(-1, 2)), max(1, CHECKED // vectors.width)):
        cosines_P = cosines_of(units_ND, some_P2).numpy()
        near_P = cosines_P >= threshold
        found_P = np.empty(int(near_P.sum()), PAIR)
        found_P["cosine"] = cosines_P[near_P]
        found_P["one"], found_P["other"] = rows[some_P2.numpy()[near_P]].T
        yield found_P


def _nearest_first(pairs_P: NDArray[Any]) -> NDArray[Any]:
    return pairs_P[np.lexsort((pairs_P["other"], pairs_P["one"], -pairs_P["cosine"]))]


def rows_for(rows: int, width: int) -> int:
    """How many vectors take the memory of so many of `WIDTH` features; of narrower ones no more."""
    return max(1, rows * WIDTH // max(width, WIDTH))


def piece(folder: str, number: int) -> Path:
    """Where a piece is."""
    return Path(folder) / f"{number:06d}.npy"


def save(array: NDArray[Any], path: PathLike) -> None:
    """Write it whole, or not at all."""
    with atomic_path(path) as unfinished, open(unfinished, "wb") as out:
        np.save(out, array, allow_pickle=False)


def mapped(path: PathLike, dtype: Any, rows: int | None = None) -> NDArray[Any]:
    """An array that `save` wrote, mapped and not read. Raises: InputError for a file of anything else."""
    try:
        found = map_array(path)
    except InputError as error:
        raise InputError(f"{error}; remove it") from error
    if found.dtype != dtype or not found.ndim or (rows is not None and len(found) != rows):
        raise InputError(
            f"{path}: {str(found.dtype)[:80]} {list(found.shape)}; expected what was written there; remove it"
        )
    return found


def count_of(path: Path) -> bytes:
    """How many pairs a piece has."""
    return np.array(len(mapped(path, PAIR)), np.int64).tobytes()
