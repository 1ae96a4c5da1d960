"""Sentences to tensors: a vocabulary's numbers, in batches of about one length.

Shape key: B sentences, T words of the longest.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple, Unpack

import numpy as np
import torch
from torch import Tensor

from paraform.batching.epochs import Batching, epoch_batches
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


def sentence_batches(table: Ragged, **how: Unpack[Batching]) -> tuple[Callable[[int], SentenceBatch], int]:
    """Batches of sentences of one length, or, where those of one length do not fill a batch, of the next ones too.

    Equal lengths need no padding, so that an LSTM runs over all of a batch in one kernel.

    Args:
        table: word numbers, a row a sentence; none is empty.
        how: as `Batching` has them.
    Returns: `batches(step)`, and the steps of an epoch. An epoch leaves out what does not fill its last batch, other
        sentences each time.
    Raises: InputError as `epoch_batches`.
    """
    lengths = np.diff(table.offsets)
    every = len(lengths)  # are sorted together
    rows_of, steps, own = epoch_batches(every, what="sentences", lengths=(lengths,), pool=every, **how)
    return lambda step: SentenceBatch(*table.padded(rows_of(step)[own])), steps
