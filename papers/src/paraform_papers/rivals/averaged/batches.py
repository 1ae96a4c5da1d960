"""sp-average's training table, and the mega-batches that negatives are sought in.

Shape key: M pairs of a mega-batch, R sentences picked, N subwords of all sentences end to end.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple, Unpack, final

import numpy as np
import torch
from torch import Tensor

from paraform.batching import Ragged
from paraform.batching.epochs import Batching, Rows, drawn_by_shares, epoch_batches

GROWTH = 4  # mega-batches after which they have one batch more, the first having one


class Bags(NamedTuple):
    """Sentences as their subwords' numbers end to end [N]; where each begins, and behind the last the end, [R + 1]."""

    pieces_N: Tensor
    offsets_R: Tensor

    def picked(self, rows_R: Tensor) -> Bags:
        """Those sentences, in that order."""
        starts_R, lengths_R = self.offsets_R[:-1][rows_R], self.offsets_R.diff()[rows_R]
        ends_R = lengths_R.cumsum(0)
        shift_N = (starts_R - ends_R + lengths_R).repeat_interleave(lengths_R)
        within_N = torch.arange(len(shift_N), device=shift_N.device)
        return Bags(self.pieces_N[shift_N + within_N], torch.cat([ends_R.new_zeros(1), ends_R]))


class MegaBatch(NamedTuple):
    """M pairs, `batch_size` of which make a step: all sources and then all targets, and the pairs' clusters [M]."""

    sentences: Bags
    clusters_M: Tensor
    batch_size: int

    def to(self, device: torch.device) -> MegaBatch:
        """On that device."""
        bags = Bags(self.sentences.pieces_N.to(device), self.sentences.offsets_R.to(device))
        return MegaBatch(bags, self.clusters_M.to(device), self.batch_size)


@final
@dataclass(frozen=True)
class BagTable:
    """Pairs of numbered sentences, each of which stands here once.

    Args:
        pieces: subwords of each sentence.
        source, target: sentences of the pairs.
        clusters: of the pairs; those of one number say the same.
        groups: the file that a pair is from, counted from 0.
    """

    pieces: Ragged
    source: Rows
    target: Rows
    clusters: Rows
    groups: Rows

    def bags(self, rows: Rows) -> Bags:
        """Those sentences."""
        ends = np.cumsum([0, *self.pieces.lengths(rows)])
        return Bags(torch.from_numpy(self.pieces.joined(rows).astype(np.int64)), torch.from_numpy(ends))


def megabatch_sizes(batches: int, *, most: int, growth: int = GROWTH) -> list[int]:
    """How many batches each mega-batch has: 1 of the first `growth`, then 2 …, `most` at most, until all are had.

    >>> megabatch_sizes(10, most=3, growth=2)
    [1, 1, 2, 2, 3, 1]
    """
    sizes: list[int] = []
    left = batches
    while left:
        sizes.append(min(most, 1 + len(sizes) // growth, left))
        left -= sizes[-1]
    return sizes


def megabatches(
    table: BagTable,
    *,
    epochs: int,
    most: int,
    growth: int = GROWTH,
    shares: Sequence[float] = (),
    **how: Unpack[Batching],
) -> tuple[Callable[[int], MegaBatch], int]:
    """Mega-batches, each whole in every process: they follow each other through the epochs.

    Args:
        most, growth: of `megabatch_sizes`.
        shares: of the groups, as `share_counts` has them.
        how: as `Batching` has them.
    Returns: `batches(step)`, and how many there are. An epoch leaves out what does not fill its last batch, other pairs
        each time.
    Raises: InputError as `epoch_batches` and `share_counts`.
    """
    shuffle = drawn_by_shares(table.groups, shares)
    rows_of, steps, _ = epoch_batches(len(table.source), what="pairs", shuffle=shuffle, **how)
    sizes = megabatch_sizes(epochs * steps, most=most, growth=growth)
    starts = np.cumsum([0, *sizes]).tolist()

    def batches(step: int) -> MegaBatch:
        rows = np.concatenate([rows_of(number) for number in range(starts[step], starts[step + 1])])
        sentences = table.bags(np.concatenate([table.source[rows], table.target[rows]]))
        return MegaBatch(sentences, torch.from_numpy(table.clusters[rows]), how["batch_size"])

    return batches, len(sizes)
