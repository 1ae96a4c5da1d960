"""Sentences to tensors: a vocabulary's numbers, in batches of about one length.

Shape key: B sentences, T words of the longest.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor

from paraform.batching.epochs import epoch_batches
from paraform.batching.ragged import Ragged


class SentenceBatch(NamedTuple):
    """Word numbers [B, T], zeros behind a sentence's last word, and lengths [B]; no `<s>` and no `</s>`."""

    words_BT: Tensor
    lengths_B: Tensor

    def to(self, device: torch.device) -> SentenceBatch:
        """On that device."""
        return SentenceBatch(self.words_BT.to(device), self.lengths_B.to(device))

    def there(self) -> Tensor:
        """Which places hold a word, not padding: [B, T] bool."""
        places_T = torch.arange(self.words_BT.shape[1], device=self.words_BT.device)
        return places_T < self.lengths_B.to(places_T.device)[:, None]

    def repeated(self, times: int) -> SentenceBatch:
        """All rows, and all again: [times · B, T]."""
        return SentenceBatch(self.words_BT.repeat(times, 1), self.lengths_B.repeat(times))


def sentence_batches(
    table: Ragged, *, batch_size: int, seed: int, rank: int = 0, world: int = 1
) -> tuple[Callable[[int], SentenceBatch], int]:
    """Batches of sentences of one length, or, where those of one length do not fill a batch, of the next ones too.

    Equal lengths need no padding, so that an LSTM runs over all of a batch in one kernel.

    Args:
        table: word numbers, a row a sentence; none is empty.
        batch_size: over all processes; each of the `world` gets every `world`-th sentence of it.
        seed: with the step it decides everything: `batches(step)` is a pure function of both.
    Returns: `batches(step)`, and the steps of an epoch. An epoch leaves out what does not fill its last batch, other
        sentences each time.
    Raises: InputError if there are fewer sentences than one batch holds, or a batch has no equal parts.
    """
    lengths = np.diff(table.offsets)
    rows_of, steps = epoch_batches(
        len(lengths), batch_size=batch_size, seed=seed, world=world, what="sentences", lengths=(lengths,),
        pool=len(lengths),  # all are sorted together
    )  # fmt: skip
    return lambda step: SentenceBatch(*table.padded(rows_of(step)[rank::world])), steps
