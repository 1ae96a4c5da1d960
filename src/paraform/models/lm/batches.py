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


class StyleBatch(NamedTuple):
    """What the style vectors of R of a batch's rows are made of: the encoder's states, [R, T, W], and lengths [R].

    Args:
        rows_R: those rows.
        exemplars: of their exemplars.
        targets: of their targets, to contrast; None: they are not.
    """

    rows_R: Tensor
    exemplars: tuple[Tensor, Tensor]
    targets: tuple[Tensor, Tensor] | None

    def to(self, device: torch.device) -> StyleBatch:
        """On that device."""
        exemplars = self.exemplars[0].to(device), self.exemplars[1]
        targets = None if self.targets is None else (self.targets[0].to(device), self.targets[1])
        return StyleBatch(self.rows_R.to(device), exemplars, targets)


class LMBatch(NamedTuple):
    """B prompts with their targets behind them.

    Args:
        prompts_B: how many pieces of each row are the prompt's.
        sources_B: before which of them its source ends.
        source_start: where the sources begin.
        contents: each target as a prompt's source; None: sources are not contrasted with targets.
        styles: None: no row has a style vector.
    """

    rows: SentenceBatch
    prompts_B: Tensor
    sources_B: Tensor
    source_start: int = 0
    contents: SentenceBatch | None = None
    styles: StyleBatch | None = None

    def to(self, device: torch.device) -> LMBatch:
        """On that device."""
        contents = None if self.contents is None else self.contents.to(device)
        styles = None if self.styles is None else self.styles.to(device)
        prompts_B, sources_B = self.prompts_B.to(device), self.sources_B.to(device)
        return LMBatch(self.rows.to(device), prompts_B, sources_B, self.source_start, contents, styles)

    def written(self) -> Tensor:
        """Which places hold a piece of a target: [B, T] bool."""
        places_T = torch.arange(self.rows.words_BT.shape[1], device=self.prompts_B.device)
        return self.rows.there() & (places_T >= self.prompts_B[:, None])


@final
@dataclass(frozen=True)
class StyleTable:
    """The encoder's states of M pairs' exemplars, no row of a pair without one, and of their targets.

    Args:
        targets: None: they are not contrasted.
    """

    exemplars: Ragged
    targets: Ragged | None

    def batch(self, rows: Rows) -> StyleBatch | None:
        """Those of them that have an exemplar; None: none has."""
        among = np.flatnonzero(self.exemplars.lengths(rows))
        if not len(among):
            return None
        chosen = rows[among]
        targets = None if self.targets is None else self.targets.padded(chosen)
        return StyleBatch(torch.from_numpy(among), self.exemplars.padded(chosen), targets)


@final
@dataclass(frozen=True)
class LMTable:
    """M prompts with their targets.

    Args:
        rows: pieces.
        prompts: [M] how many of a row are the prompt's, the mark behind it counted.
        sources: [M] before which of them its source ends.
        source_start: where sources begin.
        contents: pieces of each target as a prompt's source; None: sources are not contrasted with targets.
        styles: None: no row has a style vector.
    """

    rows: Ragged
    prompts: Rows
    sources: Rows
    source_start: int
    contents: Ragged | None = None
    styles: StyleTable | None = None

    def __len__(self) -> int:
        return len(self.prompts)

    def batch(self, rows: Rows) -> LMBatch:
        """Those of them."""
        return LMBatch(
            SentenceBatch(*self.rows.padded(rows)),
            torch.from_numpy(self.prompts[rows]),
            torch.from_numpy(self.sources[rows]),
            self.source_start,
            None if self.contents is None else SentenceBatch(*self.contents.padded(rows)),
            None if self.styles is None else self.styles.batch(rows),
        )


def lm_table(
    sources: Sequence[str],
    targets: Sequence[str],
    guides: Sequence[str] | Sequence[int] | None,
    prompts: Prompts,
    config: LMConfig,
    *,
    contrast: bool = False,
    styles: StyleTable | None = None,
    tell: str = "",
) -> LMTable:
    """Number pairs.

    Args:
        guides: one a pair, as `Prompts.prompts` has them; None: none at all.
        contrast: keep what the contents are contrasted by.
        styles: states of the pairs' exemplars.
        tell: the model's name, for a warning that counts prompts and targets that are cut; "": none.
    """
    read, written = prompts.prompts(sources, guides, config), prompts.targets(targets, config)
    if tell:
        tell_cut(sum(one.cut for one in read), len(read), f"{config.max_pieces} pieces of a prompt", tell)
        tell_cut(sum(one.cut for one in written), len(read), f"{config.max_written} pieces of a target", tell)
    rows = [[*one.numbers, prompts.begin, *other.numbers] for one, other in zip(read, written, strict=True)]
    again = prompts.prompts(targets, None, config) if contrast else []
    return LMTable(
        Ragged.of(rows),
        np.array([len(one.numbers) + 1 for one in read], np.int64),
        np.array([one.source_end for one in read], np.int64),
        prompts.source_start,
        Ragged.of([one.numbers[: one.source_end] for one in again]) if contrast else None,
        styles,
    )


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
