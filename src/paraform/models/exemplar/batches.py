"""Triples to tensors: a table of them all, and batches of about one length.

Shape key: B triples, T tokens, D features, M triples of the table, K exemplars kept a target; N tokens of all
sentences.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple, Unpack, final

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from paraform.batching import Ragged
from paraform.batching.epochs import Batching, epoch_batches

POOL = 64  # batches whose triples are sorted by length together


class StyleInput(NamedTuple):
    """What the style encoder reads: [B, T] piece numbers (fine-tuned) or [B, T, D] states (frozen); lengths [B]."""

    values: Tensor
    lengths_B: Tensor

    def rows(self, rows_N: Tensor) -> StyleInput:
        """Those of the given sentences."""
        return StyleInput(self.values[rows_N], self.lengths_B[rows_N.cpu()])

    def to(self, device: torch.device) -> StyleInput:
        """On that device; lengths stay where packing reads them, on the CPU."""
        return self._replace(values=self.values.to(device))


class TripleBatch(NamedTuple):
    """A step's triples. Word numbers ≥ the vocabulary's size are words it does not know, the same in both sides.

    `source_states` and `target_states` are the encoder's of each word, [B, T, D]; None if the network reads none.
    """

    source_BT: Tensor
    source_lengths_B: Tensor
    target_BT: Tensor
    target_lengths_B: Tensor
    exemplar: StyleInput
    target_style: StyleInput
    clusters_B: Tensor
    source_states: Tensor | None = None
    target_states: Tensor | None = None

    def to(self, device: torch.device) -> TripleBatch:
        """On that device; lengths stay where packing reads them, on the CPU."""
        stays = {"source_lengths_B", "target_lengths_B"}
        parts = {name: part for name, part in self._asdict().items() if name not in stays and part is not None}
        return self._replace(**{name: part.to(device) for name, part in parts.items()})


@final
@dataclass(frozen=True)
class PickedStates:
    """The states that stand for words: of all tokens [N, D], and which of them are each sentence's words'."""

    values: npt.NDArray[np.floating]
    rows: Ragged

    def padded(self, sentences: npt.NDArray[np.int64]) -> Tensor:
        """Those of the given sentences side by side, zeros behind the short ones: [B, T, D] float32."""
        rows_BT, lengths_B = self.rows.padded(sentences)
        beyond_BT = torch.arange(rows_BT.shape[1]) >= lengths_B[:, None]
        states_BTD = torch.from_numpy(np.asarray(self.values[rows_BT.numpy()])).float()
        return states_BTD.masked_fill_(beyond_BT[:, :, None], 0)


@final
@dataclass(frozen=True)
class TripleTable:
    """All triples as numbers: sentence i of `words` and of `style` is the same sentence.

    Args:
        words: numbers of every sentence's words.
        style: every sentence's style input.
        source, target: [M] sentences of each triple.
        exemplars: [M, K] sentences; −1 = none. A triple without any is never drawn.
        clusters: [M].
        further: exemplars of further epochs, [M, K] each; all take turns, and a triple that has some in `exemplars`
            has some in each.
        content: the states that the content encoder reads of every sentence's words; None: it reads none.
    """

    words: Ragged
    style: Ragged
    source: npt.NDArray[np.int64]
    target: npt.NDArray[np.int64]
    exemplars: npt.NDArray[np.int64]
    clusters: npt.NDArray[np.int64]
    further: Sequence[npt.NDArray[np.int64]] = ()
    content: PickedStates | None = None

    def __len__(self) -> int:
        return len(self.source)

    def style_input(self, sentences: npt.NDArray[np.int64]) -> StyleInput:
        """What the style encoder reads of the given sentences."""
        return StyleInput(*self.style.padded(sentences))


def by_length(table: TripleTable, **how: Unpack[Batching]) -> tuple[Callable[[int], TripleBatch], int]:
    """Batches of triples whose targets are about as long, so that little is padded.

    Args:
        how: as `Batching` has them.
    Returns: `batches(step)`, and the steps of an epoch.
    Raises: InputError as `epoch_batches`; a triple without an exemplar does not count.
    """
    usable = np.flatnonzero((table.exemplars >= 0).any(1))
    lengths = (table.words.lengths(table.source), table.words.lengths(table.target))
    rows_of, steps, own = epoch_batches(
        len(usable), what="triples with an exemplar", lengths=lengths, pool=POOL,
        shuffle=lambda random: random.permutation(usable), **how,
    )  # fmt: skip
    deals = (table.exemplars, *table.further)

    def batches(step: int) -> TripleBatch:
        rows = rows_of(step)
        random = np.random.default_rng([how["seed"], step, 1])
        choices = deals[step // steps % len(deals)][rows]
        # The kept exemplars stand first, so a draw below their number is a draw among them.
        drawn = (random.random(len(rows)) * (choices >= 0).sum(1)).astype(np.int64)
        rows, exemplar = rows[own], choices[np.arange(len(rows)), drawn][own]
        return TripleBatch(
            *table.words.padded(table.source[rows]),
            *table.words.padded(table.target[rows]),
            table.style_input(exemplar),
            table.style_input(table.target[rows]),
            torch.from_numpy(table.clusters[rows]),
            *((table.content.padded(side[rows]) for side in (table.source, table.target)) if table.content else ()),
        )

    return batches, steps
