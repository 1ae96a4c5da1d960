"""A language model's training table, and batches of it.

Shape key: B pairs of a batch, M of the table, T pieces of the longest prompt with its target.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple, Unpack, final

import numpy as np
import torch
from torch import Tensor

from paraform.batching import Ragged, SentenceBatch
from paraform.batching.epochs import Batching, Rows, epoch_batches
from paraform.batching.pairs import parts_of_rows
from paraform.models.lm.config import LMConfig
from paraform.models.lm.prompts import Prompts
from paraform.words import tell_cut


class LMBatch(NamedTuple):
    """B prompts with their targets behind them, and how many pieces of each are the prompt's."""

    rows: SentenceBatch
    prompts_B: Tensor

    def to(self, device: torch.device) -> LMBatch:
        """On that device."""
        return LMBatch(self.rows.to(device), self.prompts_B.to(device))

    def written(self) -> Tensor:
        """Which places hold a piece of a target: [B, T] bool."""
        places_T = torch.arange(self.rows.words_BT.shape[1], device=self.prompts_B.device)
        return self.rows.there() & (places_T >= self.prompts_B[:, None])


@final
@dataclass(frozen=True)
class LMTable:
    """M prompts with their targets.

    Args:
        rows: pieces.
        prompts: [M] how many of a row are the prompt's, the mark behind it counted.
    """

    rows: Ragged
    prompts: Rows

    def __len__(self) -> int:
        return len(self.prompts)

    def batch(self, rows: Rows) -> LMBatch:
        """Those of them."""
        return LMBatch(SentenceBatch(*self.rows.padded(rows)), torch.from_numpy(self.prompts[rows]))


def lm_table(
    sources: Sequence[str],
    targets: Sequence[str],
    guides: Sequence[str] | None,
    prompts: Prompts,
    config: LMConfig,
    *,
    tell: str = "",
) -> LMTable:
    """Number pairs.

    Args:
        guides: one a pair, "" for none; None: none at all.
        tell: the model's name, for a warning that counts prompts and targets that are cut; "": none.
    """
    read, written = prompts.prompts(sources, guides, config), prompts.targets(targets, config)
    if tell:
        tell_cut(sum(one.cut for one in read), len(read), f"{config.max_pieces} pieces of a prompt", tell)
        tell_cut(sum(one.cut for one in written), len(read), f"{config.max_written} pieces of a target", tell)
    rows = [[*one.numbers, prompts.begin, *other.numbers] for one, other in zip(read, written, strict=True)]
    return LMTable(Ragged.of(rows), np.array([len(one.numbers) + 1 for one in read], np.int64))


def lm_batches(table: LMTable, **how: Unpack[Batching]) -> tuple[Callable[[int], LMBatch], int]:
    """Batches of rows that are about as long, and the steps of an epoch. Raises: InputError as `epoch_batches`."""
    lengths = (table.rows.lengths(np.arange(len(table))),)
    rows_of, steps, own = epoch_batches(len(table), what="pairs", lengths=lengths, **how)
    return lambda step: table.batch(rows_of(step)[own]), steps


def parts_of(table: LMTable, batch_size: int) -> Iterator[tuple[Rows, LMBatch]]:
    """All rows once, those of like length together, so many at once, and which they are."""
    order = np.argsort(table.rows.lengths(np.arange(len(table))), kind="stable")
    for rows in parts_of_rows(len(table), batch_size):
        yield order[rows], table.batch(order[rows])
