"""A seq2seq's training table, and batches of it.

Shape key: B pairs of a batch, M of the table.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple, Unpack, final

import numpy as np
import torch

from paraform.batching import Ragged, SentenceBatch
from paraform.batching.epochs import Batching, Rows, epoch_batches
from paraform.batching.pairs import parts_of_rows
from paraform.models.seq2seq.config import Seq2SeqConfig
from paraform.models.seq2seq.pieces import Pieces, inputs, outputs
from paraform.records import Pair
from paraform.syntax.trees import Tree, below_one_root, template
from paraform.words import tell_cut

LIKE = 8  # pieces: outputs that differ by less are as long, and the inputs decide


class PairBatch(NamedTuple):
    """B inputs, and the outputs that they are to become, with their marks."""

    source: SentenceBatch
    target: SentenceBatch

    def to(self, device: torch.device) -> PairBatch:
        """On that device."""
        return PairBatch(self.source.to(device), self.target.to(device))

    def parts(self, count: int) -> list[PairBatch]:
        """The same pairs in at most so many batches, whose rows are as wide as they are long."""
        sizes = torch.arange(len(self.source.lengths_B)).chunk(count)
        return [PairBatch(_rows(self.source, some), _rows(self.target, some)) for some in sizes]


def _rows(batch: SentenceBatch, rows_B: torch.Tensor) -> SentenceBatch:
    lengths_B = batch.lengths_B[rows_B]
    return SentenceBatch(batch.words_BT[rows_B, : int(lengths_B.max())], lengths_B)


@final
@dataclass(frozen=True)
class PairTable:
    """M pairs of numbers.

    Args:
        inputs, outputs: as `pieces` has them.
    """

    inputs: Ragged
    outputs: Ragged

    def __len__(self) -> int:
        return len(self.inputs.offsets) - 1

    def batch(self, rows: Rows) -> PairBatch:
        """Those pairs."""
        return PairBatch(SentenceBatch(*self.inputs.padded(rows)), SentenceBatch(*self.outputs.padded(rows)))


def pair_table(
    pairs: Sequence[Pair], trees: Mapping[str, Tree], config: Seq2SeqConfig, pieces: Pieces, *, tell: str = ""
) -> PairTable:
    """Number pairs, each in the form of its target.

    Args:
        trees: of every text, with its words.
        tell: the model's name, for warnings that count inputs and outputs that are cut; "": none.
    """
    sources, targets = [pair.source.text for pair in pairs], [pair.target.text for pair in pairs]
    own = None if config.source_tree == "none" else [below_one_root(trees[text]) for text in sources]
    whole = [below_one_root(trees[text]) for text in targets]
    read = inputs(sources, own, [template(tree, config.height) for tree in whole], pieces, config)
    written = outputs(targets, whole, pieces, config)
    if tell:
        tell_cut(sum(one.cut for one in read), len(pairs), f"{config.max_pieces} pieces of an input", tell)
        if lost := sum(one.cut for one in written):
            logging.getLogger("paraform").warning(
                "%d of %d outputs are longer than the %d pieces that %s writes; their trees are cut, then their texts",
                lost, len(pairs), config.max_written, tell,
            )  # fmt: skip
    return PairTable(Ragged.of([one.numbers for one in read]), Ragged.of([one.numbers for one in written]))


def pair_batches(table: PairTable, **how: Unpack[Batching]) -> tuple[Callable[[int], PairBatch], int]:
    """Batches whose outputs are about as long.

    Args:
        how: as `Batching` has them.
    Returns: `batches(step)`, and the steps of an epoch.
    Raises: InputError as `epoch_batches`.
    """
    every = np.arange(len(table))
    lengths = (table.inputs.lengths(every), table.outputs.lengths(every) // LIKE)
    rows_of, steps, own = epoch_batches(len(table), what="pairs", lengths=lengths, **how)
    return lambda step: table.batch(rows_of(step)[own]), steps


def parts_of(table: PairTable, batch_size: int) -> Iterator[PairBatch]:
    """All pairs once, in their order, so many at once; the last part may have fewer."""
    yield from map(table.batch, parts_of_rows(len(table), batch_size))
