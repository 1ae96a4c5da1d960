"""Epochs of batches."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import NamedTuple, Required, TypeAlias, TypedDict, Unpack

import numpy as np
import numpy.typing as npt

from paraform.records import InputError

Rows: TypeAlias = npt.NDArray[np.int64]

POOL = 32  # batches whose rows are sorted by length together


class Batching(TypedDict, total=False):
    """How an epoch is cut into batches; whatever makes batches takes these by name.

    Args:
        batch_size: rows of a step, over all processes.
        seed: with the step it decides everything: `batches(step)` is a pure function of both.
        rank, world: this process's number, and how many there are; each gets every `world`-th row of a batch. If not
            given, there is one.
    """

    batch_size: Required[int]
    seed: Required[int]
    rank: int
    world: int


class EpochBatches(NamedTuple):
    """Step → the rows of its batch, over all processes; the steps of an epoch; which of a batch are this process's."""

    rows_of: Callable[[int], Rows]
    steps: int
    own: slice


def epoch_batches(
    rows: int,
    *,
    what: str,
    lengths: Sequence[Rows] = (),
    pool: int = POOL,
    shuffle: Callable[[np.random.Generator], Rows] | None = None,
    **batching: Unpack[Batching],
) -> EpochBatches:
    """The rows of each step's batch, in another order each epoch; what does not fill the last batch is left out.

    Args:
        rows: how many there are.
        what: the name of the rows, for the error.
        lengths, pool: as `batches_of_like` has them; (): batches are not sorted.
        shuffle: what an epoch draws from, in its order; None: all rows.
    Raises: InputError if there are fewer rows than one batch holds, or a batch has no equal parts.
    """
    batch_size, seed, world = batching["batch_size"], batching["seed"], batching.get("world", 1)
    if batch_size % world:
        raise InputError(f"batch size {batch_size} on {world} processes; expected a multiple of {world}")
    if rows < batch_size:
        raise InputError(f"{rows} {what}; expected at least one batch of {batch_size}, or a smaller batch size")
    steps = rows // batch_size

    @lru_cache(maxsize=2)  # of a mega-batch that reaches from one epoch into the next
    def order(epoch: int) -> Rows:
        random = np.random.default_rng([seed, epoch])
        shuffled = (random.permutation(rows) if shuffle is None else shuffle(random))[: steps * batch_size]
        if not lengths:
            return shuffled.reshape(steps, batch_size)
        return batches_of_like(shuffled, lengths, batch_size=batch_size, pool=pool, random=random)

    return EpochBatches(
        lambda step: order(step // steps)[step % steps], steps, slice(batching.get("rank", 0), None, world)
    )


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


def drawn_by_shares(groups: Rows, shares: Sequence[float]) -> Callable[[np.random.Generator], Rows]:
    """What an epoch draws from groups of rows, in a random order (`epoch_batches`).

    Args:
        groups: the group of each row, counted from 0.
        shares: as `share_counts` has them.
    Raises: InputError as `share_counts`.
    """
    counts = share_counts(np.bincount(groups), shares)
    members = [np.flatnonzero(groups == group) for group in range(len(counts))]

    def shuffle(random: np.random.Generator) -> Rows:
        drawn = [drawn_rows(rows, count, random) for rows, count in zip(members, counts, strict=True)]
        return random.permutation(np.concatenate(drawn))

    return shuffle


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
