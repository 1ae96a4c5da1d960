"""SGCP's training table, and batches of it.

Shape key: B pairs of a batch, M of the table, T units of the longest target, N nodes of the longest tree.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import NamedTuple, Unpack, final

import numpy as np
import torch
from torch import Tensor

from paraform.batching import Ragged, SentenceBatch
from paraform.batching.epochs import Batching, Rows, epoch_batches
from paraform.batching.pairs import parts_of_rows
from paraform_papers.rivals.sgcp.forms import Forms, cut

LIKE = 4  # units: targets that differ by less are as long, and the sources decide
HEIGHTS = (3, 7)  # the least and the most that targets' trees are cut at, in levels with ROOT's
TEACHER_FORCING = 0.9  # share of the batches in which the decoder reads the target; in the others, its own units


class PairBatch(NamedTuple):
    """B pairs.

    Args:
        source, target: units; numbers ≥ the vocabulary's size are units that it lacks.
        leaf_BT: the place in the queue of the leaf above each of a target's units, then of the end's; [B, T + 1].
        forms: the targets' trees, cut.
        forced: whether the decoder reads the target, or its own units.
    """

    source: SentenceBatch
    target: SentenceBatch
    leaf_BT: Tensor
    forms: Forms
    forced: bool

    def to(self, device: torch.device) -> PairBatch:
        """On that device."""
        source, target, forms = self.source.to(device), self.target.to(device), self.forms.to(device)
        return PairBatch(source, target, self.leaf_BT.to(device), forms, self.forced)


@final
@dataclass(frozen=True)
class PairTable:
    """Pairs of numbered sentences, each of which stands here once.

    Args:
        units: numbers of each sentence's units.
        tags: the node of each unit's tag.
        labels, parents, levels: each sentence's tree, as `forms.Nodes` has it.
        source, target: [M] sentences of the pairs.
    """

    units: Ragged
    tags: Ragged
    labels: Ragged
    parents: Ragged
    levels: Ragged
    source: Rows
    target: Rows

    def batch(self, source: Rows, target: Rows, heights_B: Rows, *, forced: bool = True) -> PairBatch:
        """Those sentences as pairs, the targets' trees cut at those heights."""
        forms, leaf_BN = cut(self.labels, self.parents, self.levels, target, heights_B)
        tags_BT, lengths_B = self.tags.padded(target)
        ends_B1 = torch.from_numpy(self.labels.lengths(target) - 1)[:, None]
        nodes_BT = torch.cat([tags_BT, torch.zeros_like(ends_B1)], 1).scatter(1, lengths_B[:, None], ends_B1)
        return PairBatch(
            SentenceBatch(*self.units.padded(source)),
            SentenceBatch(*self.units.padded(target)),
            torch.from_numpy(leaf_BN).gather(1, nodes_BT),
            forms,
            forced,
        )


def pair_batches(table: PairTable, **how: Unpack[Batching]) -> tuple[Callable[[int], PairBatch], int]:
    """Batches whose targets are about as long; an epoch has every pair twice, from target to source too.

    Each pair's height is drawn from `HEIGHTS`; a tree has no more levels than its own.

    Args:
        how: as `Batching` has them.
    Returns: `batches(step)`, and the steps of an epoch.
    Raises: InputError as `epoch_batches`.
    """
    source = np.concatenate([table.source, table.target])
    target = np.concatenate([table.target, table.source])
    lengths = (table.units.lengths(source), table.units.lengths(target) // LIKE)
    rows_of, steps, own = epoch_batches(len(source), what="pairs, both directions counted", lengths=lengths, **how)

    def batches(step: int) -> PairBatch:
        rows, seed = rows_of(step), how["seed"]
        heights = np.random.default_rng([seed, step, 1]).integers(HEIGHTS[0], HEIGHTS[1] + 1, len(rows))
        forced = bool(np.random.default_rng([seed, step, 2]).random() < TEACHER_FORCING)
        return table.batch(source[rows[own]], target[rows[own]], heights[own], forced=forced)

    return batches, steps


def parts_of(table: PairTable, batch_size: int) -> Iterator[PairBatch]:
    """All pairs once, in their order, whole trees, so many at once; the last part may have fewer."""
    whole = int(table.levels.values.max(initial=2))
    for rows in parts_of_rows(len(table.source), batch_size):
        yield table.batch(table.source[rows], table.target[rows], np.full(len(rows), whole))
