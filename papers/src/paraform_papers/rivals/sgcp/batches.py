"""SGCP's training table, and batches of it.

Shape key: B pairs of a batch, M of the table, T units of the longest target, N nodes of the longest tree.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal, NamedTuple, final

import numpy as np
import torch
from torch import Tensor

from paraform.batching import Ragged, SentenceBatch, batches_of_like, epoch_steps
from paraform.batching.epochs import Rows
from paraform_papers.rivals.sgcp.forms import Forms, cut

POOL = 32  # batches that are sorted by length together
LIKE = 4  # units: targets that differ by less are as long, and the sources decide


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


def pair_batches(
    table: PairTable,
    *,
    batch_size: int,
    seed: int,
    both_directions: bool,
    heights: tuple[int, int],
    height_draw: Literal["pair", "epoch"],
    teacher_forcing: float,
    rank: int = 0,
    world: int = 1,
) -> tuple[Callable[[int], PairBatch], int]:
    """Batches whose targets are about as long.

    Args:
        batch_size: over all processes; each of the `world` gets every `world`-th pair of it.
        seed: with the step it decides everything: `batches(step)` is a pure function of both.
        both_directions: an epoch has every pair twice, from target to source too.
        heights, height_draw, teacher_forcing: as `SgcpConfig` has them.
    Returns: `batches(step)`, and the steps of an epoch.
    Raises: InputError if there are fewer pairs than one batch holds, or a batch has no equal parts.
    """
    ways = (table.source, table.target), (table.target, table.source)
    source, target = (np.concatenate(sides) for sides in zip(*ways[: 1 + both_directions], strict=True))
    what = "pairs, both directions counted" if both_directions else "pairs"
    steps = epoch_steps(len(source), batch_size, world=world, what=what)
    lengths = (table.units.lengths(source), table.units.lengths(target) // LIKE)

    @lru_cache(maxsize=1)
    def order(epoch: int) -> Rows:
        random = np.random.default_rng([seed, epoch])
        shuffled = random.permutation(len(source))[: steps * batch_size]
        return batches_of_like(shuffled, lengths, batch_size=batch_size, pool=POOL, random=random)

    def batches(step: int) -> PairBatch:
        rows = order(step // steps)[step % steps][rank::world]
        times = step if height_draw == "pair" else step // steps
        drawn = np.random.default_rng([seed, times, 1]).integers(heights[0], heights[1] + 1, batch_size)
        heights_B = drawn[rank::world] if height_draw == "pair" else np.full(len(rows), drawn[0])
        forced = bool(np.random.default_rng([seed, step, 2]).random() < teacher_forcing)
        return table.batch(source[rows], target[rows], heights_B, forced=forced)

    return batches, steps


def parts_of(table: PairTable, batch_size: int) -> Iterator[PairBatch]:
    """All pairs once, in their order, whole trees, so many at once; the last part may have fewer."""
    for start in range(0, len(table.source), batch_size):
        source, target = (side[start : start + batch_size] for side in (table.source, table.target))
        yield table.batch(source, target, np.full(len(target), int(table.levels.values.max(initial=2))))
