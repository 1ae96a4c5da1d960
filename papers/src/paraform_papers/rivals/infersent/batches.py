"""InferSent's training table, and batches of it.

Shape key: M pairs, B of a batch, T words of the longest sentence, W different words, D features of a word.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple, Unpack, final

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from paraform.batching import Ragged
from paraform.batching.epochs import Batching, Rows, epoch_batches
from paraform.batching.pairs import parts_of_rows


class Words(NamedTuple):
    """B sentences: their words' vectors [B, T, D], zeros behind the last, and how many [B], which may be none."""

    vectors_BTD: Tensor
    lengths_B: Tensor

    def to(self, device: torch.device) -> Words:
        """On that device."""
        return Words(self.vectors_BTD.to(device), self.lengths_B.to(device))


class JudgedBatch(NamedTuple):
    """B pairs, and the class of each [B]."""

    source: Words
    target: Words
    labels_B: Tensor

    def to(self, device: torch.device) -> JudgedBatch:
        """On that device."""
        return JudgedBatch(self.source.to(device), self.target.to(device), self.labels_B.to(device))


@final
@dataclass(frozen=True)
class JudgedTable:
    """Pairs of numbered sentences, each of which stands here once.

    Args:
        vectors: [W, D] float32, of the different words.
        words: numbers of each sentence's words.
        source, target: [M] sentences of the pairs.
        labels: [M] their classes.
    """

    vectors: npt.NDArray[np.float32]
    words: Ragged
    source: Rows
    target: Rows
    labels: Rows

    @classmethod
    def of(
        cls,
        sentences: Mapping[str, Sequence[str]],
        vectors: Mapping[str, npt.NDArray[np.float32]],
        pairs: Sequence[tuple[str, str, int]],
    ) -> JudgedTable:
        """From the words of each text, vectors of some words, the others being left out, and texts with a class."""
        row = {word: number for number, word in enumerate(vectors)}
        place = {text: number for number, text in enumerate(sentences)}
        numbers = np.array([(place[first], place[second], label) for first, second, label in pairs], np.int64)
        return cls(
            np.stack(list(vectors.values())),
            Ragged.of([[row[word] for word in words if word in row] for words in sentences.values()]),
            *numbers.reshape(-1, 3).T,
        )

    def batch(self, rows: Rows) -> JudgedBatch:
        """Those pairs."""
        sides = []
        for sentences in (self.source[rows], self.target[rows]):
            numbers_BT, lengths_B = self.words.padded(sentences)
            vectors_BTD = torch.from_numpy(self.vectors[numbers_BT.numpy()])
            there_BT = torch.arange(numbers_BT.shape[1]) < lengths_B[:, None]
            sides.append(Words(vectors_BTD * there_BT[..., None], lengths_B))
        return JudgedBatch(sides[0], sides[1], torch.from_numpy(self.labels[rows]))

    def parts(self, size: int) -> Iterator[JudgedBatch]:
        """All pairs once, in their order, so many at once; the last part may have fewer."""
        yield from map(self.batch, parts_of_rows(len(self.labels), size))

    def batches(self, **how: Unpack[Batching]) -> tuple[Callable[[int], JudgedBatch], int]:
        """Batches in an order drawn anew each epoch.

        Args:
            how: as `Batching` has them.
        Returns: `batches(step)`, and the steps of an epoch.
        Raises: InputError as `epoch_batches`.
        """
        rows_of, steps, own = epoch_batches(len(self.labels), what="pairs", **how)
        return lambda step: self.batch(rows_of(step)[own]), steps
