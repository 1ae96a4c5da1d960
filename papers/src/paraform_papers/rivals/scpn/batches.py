"""SCPN's training table, and batches of it.

Shape key: B pairs of a batch, M of the table.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import NamedTuple, Unpack, final

import numpy as np
import torch

from paraform.batching import Ragged, SentenceBatch
from paraform.batching.epochs import Batching, Rows, epoch_batches
from paraform.batching.pairs import parts_of_rows

LIKE = 8  # symbols: targets' parses that differ by less are as long, and the sources' decide


class PairBatch(NamedTuple):
    """B pairs: units of both sides, numbers ≥ the vocabulary's size being units that it lacks; the parses of both; and
    the templates of the targets'."""

    source: SentenceBatch
    target: SentenceBatch
    source_parse: SentenceBatch
    target_parse: SentenceBatch
    template: SentenceBatch

    def to(self, device: torch.device) -> PairBatch:
        """On that device."""
        return PairBatch(*(part.to(device) for part in self))


@final
@dataclass(frozen=True)
class PairTable:
    """Pairs of numbered sentences, each of which stands here once.

    Args:
        units: numbers of each sentence's units.
        parses, templates: symbols of each sentence's parse, and of its template.
        source, target: [M] sentences of the pairs.
    """

    units: Ragged
    parses: Ragged
    templates: Ragged
    source: Rows
    target: Rows

    def batch(self, source: Rows, target: Rows) -> PairBatch:
        """Those sentences as pairs."""
        return PairBatch(
            SentenceBatch(*self.units.padded(source)),
            SentenceBatch(*self.units.padded(target)),
            SentenceBatch(*self.parses.padded(source)),
            SentenceBatch(*self.parses.padded(target)),
            SentenceBatch(*self.templates.padded(target)),
        )


def pair_batches(table: PairTable, **how: Unpack[Batching]) -> tuple[Callable[[int], PairBatch], int]:
    """Batches whose parses are about as long; half of them, drawn by seed, from target to source.

    Args:
        how: as `Batching` has them.
    Returns: `batches(step)`, and the steps of an epoch.
    Raises: InputError as `epoch_batches`.
    """
    lengths = (table.parses.lengths(table.source), table.parses.lengths(table.target) // LIKE)
    rows_of, steps, own = epoch_batches(len(table.source), what="pairs of different parses", lengths=lengths, **how)

    def batches(step: int) -> PairBatch:
        rows = rows_of(step)[own]
        sides = (table.source[rows], table.target[rows])
        swapped = np.random.default_rng([how["seed"], step, 1]).random() < 0.5
        return table.batch(*(sides[::-1] if swapped else sides))

    return batches, steps


def parts_of(table: PairTable, batch_size: int) -> Iterator[PairBatch]:
    """All pairs once, in their order, so many at once; the last part may have fewer."""
    for rows in parts_of_rows(len(table.source), batch_size):
        yield table.batch(table.source[rows], table.target[rows])
