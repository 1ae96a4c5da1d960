"""Epochs of batches."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from paraform.records import InputError

Rows: TypeAlias = npt.NDArray[np.int64]


def epoch_steps(rows: int, batch_size: int, *, world: int, what: str) -> int:
    """The steps of an epoch; what does not fill the last batch is left out.

    Args:
        batch_size: over all processes.
        world: the number of processes.
        what: the name of the rows, for the error.
    Raises: InputError if there are fewer rows than one batch holds, or a batch has no equal parts.
    """
    if batch_size % world:
        raise InputError(f"batch size {batch_size} on {world} processes; expected a multiple of {world}")
    if rows < batch_size:
        raise InputError(f"{rows} {what}; expected at least one batch of {batch_size}, or a smaller batch size")
    return rows // batch_size


def share_counts(sizes: Rows, shares: Sequence[float]) -> list[int]:
    """Rows of each group in an epoch, which has as many as there are in all.

    Args:
        sizes: rows that there are of each group.
        shares: how many are from each, up to a factor; (): as many as there are.
    Raises: InputError if the shares are not one for each group.
    """
    if not shares:
        return [int(size) for size in sizes]
    if len(shares) != len(sizes) or not all(0 < share < math.inf for share in shares):
        raise InputError(f"shares {list(shares)} of {len(sizes)} files of pairs; expected a number above 0 for each")
    ends = np.rint(np.cumsum(shares) / sum(shares) * sizes.sum()).astype(int)
    return [int(count) for count in np.diff(ends, prepend=0)]


def drawn_rows(rows: Rows, count: int, random: np.random.Generator) -> Rows:
    """So many of the rows, none once more often than another."""
    whole, rest = divmod(count, len(rows))
    return np.concatenate([*(rows,) * whole, random.permutation(rows)[:rest]])


def batches_of_like(
    shuffled: Rows, lengths: Sequence[Rows], *, batch_size: int, pool: int, random: np.random.Generator
) -> Rows:
    """The shuffled rows of an epoch as batches whose rows are about as long, so that little is padded.

    Within a pool of `pool` batches the rows are sorted by length; then the batches are shuffled.

    Args:
        shuffled: so many rows that they fill whole batches.
        lengths: by row, what they are sorted by; the last decides first, as of `np.lexsort`.
    Returns: [steps, batch_size].
    """
    size = pool * batch_size
    pools = [shuffled[start : start + size] for start in range(0, len(shuffled), size)]
    rows = np.concatenate([some[np.lexsort([each[some] for each in lengths])] for some in pools])
    return random.permutation(rows.reshape(-1, batch_size))
