"""ParaBART's training table, and batches of it.

Shape key: M pairs, B of a batch, N further sentences, T word pieces of the longest, S symbols of the longest tree, C
parts of a bag.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple, Unpack, final

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from paraform.batching import Ragged
from paraform.batching.epochs import Batching, Rows, drawn_by_shares, epoch_batches
from paraform.batching.pairs import parts_of_rows

LIKE = 8  # symbols: targets' trees that differ by less are as long, and the sources' lengths decide


class Sentences(NamedTuple):
    """B sentences: pieces [B, T], zeros behind the last, how many [B], the special two counted, and clusters [B]."""

    pieces_BT: Tensor
    lengths_B: Tensor
    clusters_B: Tensor

    def to(self, device: torch.device) -> Sentences:
        """On that device."""
        return Sentences(*(part.to(device) for part in self))


class Trees(NamedTuple):
    """B linearised trees: symbols [B, S], zeros behind the last, how many [B]; bags of the whole ones [B, C]."""

    symbols_BS: Tensor
    lengths_B: Tensor
    bags_BC: Tensor

    def to(self, device: torch.device) -> Trees:
        """On that device."""
        return Trees(*(part.to(device) for part in self))


class PairBatch(NamedTuple):
    """B pairs with both sides' trees; further negatives, and [2B, D] vectors of all sources and then all targets by the
    encoder as it came, either of which may be none."""

    source: Sentences
    target: Sentences
    source_tree: Trees
    target_tree: Trees
    negatives: Sentences | None = None
    start_RD: Tensor | None = None

    def to(self, device: torch.device) -> PairBatch:
        """On that device."""
        parts = {name: part for name, part in self._asdict().items() if part is not None}
        return self._replace(**{name: part.to(device) for name, part in parts.items()})


@final
@dataclass(frozen=True)
class PairTable:
    """Pairs of numbered sentences, each of which stands here once.

    Args:
        pieces: word pieces of each sentence, the special two among them.
        symbols: of each sentence's tree (`TreeSymbols.encode`).
        bags: [sentences, C] float32, what the adversary tells of each.
        clusters: [sentences]; those of one number say the same.
        source, target: [M] sentences of the pairs.
        negatives: [M, K] further negatives of each pair, −1 where there is none.
        groups: [M] the file that a pair is from, counted from 0.
        start: [sentences, D] float32, vectors by the encoder as it came; None: not needed.
        reads_trees: whether what writes may read trees; else their symbols are left out of batches, and pairs are
            grouped by their pieces.
    """

    pieces: Ragged
    symbols: Ragged
    bags: npt.NDArray[np.float32]
    clusters: Rows
    source: Rows
    target: Rows
    negatives: Rows
    groups: Rows
    start: npt.NDArray[np.float32] | None = None
    reads_trees: bool = True

    def sentences(self, rows: Rows) -> Sentences:
        """Those sentences."""
        return Sentences(*self.pieces.padded(rows), torch.from_numpy(self.clusters[rows]))

    def trees(self, rows: Rows) -> Trees:
        """The trees of those sentences."""
        bags_BC = torch.from_numpy(self.bags[rows])
        if not self.reads_trees:
            return Trees(torch.zeros(len(rows), 0, dtype=torch.long), torch.zeros(len(rows), dtype=torch.long), bags_BC)
        return Trees(*self.symbols.padded(rows), bags_BC)

    def batch(self, rows: Rows) -> PairBatch:
        """Those pairs, without negatives."""
        source, target = self.source[rows], self.target[rows]
        return PairBatch(self.sentences(source), self.sentences(target), self.trees(source), self.trees(target))


def pair_batches(
    table: PairTable, *, shares: Sequence[float] = (), **how: Unpack[Batching]
) -> tuple[Callable[[int], PairBatch], int]:
    """Batches whose targets' trees, and then sources', are about as long, so that little is padded; or their pieces.

    Args:
        shares: of the groups, as `share_counts` has them.
        how: as `Batching` has them. Every process gets all further negatives, which may not be as many for each.
    Returns: `batches(step)`, and the steps of an epoch.
    Raises: InputError as `epoch_batches` and `share_counts`.
    """
    read = table.symbols if table.reads_trees else table.pieces  # what takes most of a step's positions
    lengths = (read.lengths(table.source), read.lengths(table.target) // LIKE)
    shuffle = drawn_by_shares(table.groups, shares)
    rows_of, steps, own = epoch_batches(len(table.source), what="pairs", lengths=lengths, shuffle=shuffle, **how)

    def batches(step: int) -> PairBatch:
        rows = rows_of(step)
        negatives = table.negatives[rows]
        negatives = np.unique(negatives[negatives >= 0])
        source, target = table.source[rows[own]], table.target[rows[own]]
        return table.batch(rows[own])._replace(
            negatives=table.sentences(negatives) if len(negatives) else None,
            start_RD=None if table.start is None else torch.from_numpy(table.start[np.concatenate([source, target])]),
        )

    return batches, steps


def parts_of(table: PairTable, batch_size: int) -> Iterator[PairBatch]:
    """All pairs once, in their order, so many at once; the last part may have fewer."""
    yield from map(table.batch, parts_of_rows(len(table.source), batch_size))
