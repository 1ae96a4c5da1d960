"""Vectors in shards on disk, pairs of them that may be near, and those that are: what a worker holds of both.

Shape key: N vectors, D features, Q and C rows of two blocks, P pairs.
"""

from __future__ import annotations

from collections.abc import Iterator
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
MOST_PAIRS = 2**23  # of one piece: 100 MB of them

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
    """

    folder: str
    rows: int
    size: int
    width: int
    of: str

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
            near_P2 = true_cells(products_QC >= torch.from_numpy(least_Q)[:, None]).numpy()
            yield near_P2[:, 0] + start, near_P2[:, 1] + first


class Checked:
    """What may be near is looked at again in float32; what is near is kept.

    Args:
        vectors: of which the pairs are rows.
    """

    def __init__(self, vectors: Vectors, threshold: float) -> None:
        self._vectors, self._threshold = vectors, threshold
        self._waiting: list[NDArray[np.int64]] = []
        self._kept: list[NDArray[Any]] = [np.zeros(0, PAIR)]
        self._count = 0

    def add(self, one_P: Numbers, other_P: Numbers) -> None:
        """Rows that may be near; each pair once."""
        self._waiting.append(np.stack([np.minimum(one_P, other_P), np.maximum(one_P, other_P)], 1))
        if sum(map(len, self._waiting)) >= CANDIDATES:
            self._check()

    def pairs(self) -> NDArray[Any]:
        """Those that are, nearest first."""
        self._check()
        found_P = np.concatenate(self._kept)
        return found_P[np.lexsort((found_P["other"], found_P["one"], -found_P["cosine"]))]

    def _check(self) -> None:
        if not self._waiting:
            return
        pairs_P2 = np.concatenate(self._waiting)
        self._waiting = []
        rows, at = np.unique(pairs_P2, return_inverse=True)
        units_ND = torch.from_numpy(self._vectors.units(rows))
        size = max(1, CHECKED // self._vectors.width)
        for some_P2 in torch.split(torch.from_numpy(at.reshape(-1, 2)), size):
            cosines_P = cosines_of(units_ND, some_P2).numpy()
            near_P = cosines_P >= self._threshold
            found_P = np.empty(int(near_P.sum()), PAIR)
            found_P["cosine"] = cosines_P[near_P]
            found_P["one"], found_P["other"] = rows[some_P2.numpy()[near_P]].T
            self._kept.append(found_P)
            self._count += len(found_P)
            if self._count > MOST_PAIRS:
                raise InputError(
                    f"over {MOST_PAIRS:,} pairs of {self._vectors.rows:,} texts in one piece alone have a cosine of"
                    f" {self._threshold:g} or more; expected a higher threshold"
                )


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
