"""Questions and their contexts as frozen vectors of words, and where the answers stand; batches of them.

Shape key: B questions of a batch, T words of the longest context, S of the longest question, D features of a vector; Q
all questions, N words of all texts.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple, TypeAlias, Unpack, final

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from paraform.batching import Ragged
from paraform.batching.epochs import Batching, epoch_batches
from paraform_papers.par.squad import Question

Rows: TypeAlias = npt.NDArray[np.int64]
POOLED = 16  # batches that are cut, by length of context, from one draw of as many questions
_WORD = re.compile(r"[^\W_]+?(?=n['’]t\b)|n['’]t\b|['’](?:s|re|ve|ll|d|m)\b|\d+(?:[.,]\d+)+|[^\W_]+|\S", re.IGNORECASE)


class Word(NamedTuple):
    """A word, and where it stands: its first character's number, and that behind its last."""

    text: str
    start: int
    end: int


def placed_words(text: str) -> list[Word]:
    """A text's words with their places; hyphens and dashes are words, so that answers seldom end within one.

    >>> [word.text for word in placed_words("It didn't cost $1,500 in 1999–2000.")]
    ['It', 'did', "n't", 'cost', '$', '1,500', 'in', '1999', '–', '2000', '.']
    """
    return [Word(found[0], found.start(), found.end()) for found in _WORD.finditer(text)]


def answer_words(words: Sequence[Word], start: int, end: int) -> tuple[int, int]:
    """The first and the last word with a character of those from `start` to before `end`, which are not all white."""
    inside = [number for number, word in enumerate(words) if word.end > start and word.start < end]
    return inside[0], inside[-1]


class ReaderBatch(NamedTuple):
    """Contexts [B, T, D] and questions [B, S, D] float32, zeros behind the short ones; lengths, and the answers' first
    and last words, [B]."""

    context_BTD: Tensor
    context_lengths_B: Tensor
    question_BSD: Tensor
    question_lengths_B: Tensor
    start_B: Tensor
    end_B: Tensor

    def to(self, device: torch.device) -> ReaderBatch:
        """On that device."""
        return ReaderBatch(*(part.to(device) for part in self))


@final
@dataclass(frozen=True, eq=False)
class ReaderTable:
    """Questions as rows.

    Args:
        vectors: of the words of each different text, [N, D].
        context_Q, question_Q: which texts.
        start_Q, end_Q: the first answer's first and last word.
    """

    vectors: Ragged
    context_Q: Rows
    question_Q: Rows
    start_Q: Rows
    end_Q: Rows

    @classmethod
    def of(cls, questions: Sequence[Question], words: dict[str, list[Word]], vectors: Ragged) -> ReaderTable:
        """The questions' table.

        Args:
            words: of each text, contexts and questions, in the order of the vectors' rows.
        """
        row = {text: number for number, text in enumerate(words)}
        spans = [
            answer_words(words[one.context], first.start, first.start + len(first.text))
            for one in questions
            for first in one.answers[:1]
        ]
        starts, ends = ([span[side] for span in spans] for side in (0, 1))
        contexts, asked = ([row[text] for text in some] for some in (
            (one.context for one in questions), (one.text for one in questions)
        ))  # fmt: skip
        return cls(vectors, *(np.array(part, np.int64) for part in (contexts, asked, starts, ends)))

    def __len__(self) -> int:
        """Questions."""
        return len(self.context_Q)

    def lengths(self) -> Rows:
        """Words of each question's context: [Q]."""
        return self.vectors.lengths(self.context_Q)

    def batch(self, rows: Rows) -> ReaderBatch:
        """The given questions."""
        context, asked = (self.vectors.padded(texts[rows]) for texts in (self.context_Q, self.question_Q))
        start_B, end_B = (torch.from_numpy(part[rows]) for part in (self.start_Q, self.end_Q))
        return ReaderBatch(*context, *asked, start_B, end_B)

    def batches(self, **how: Unpack[Batching]) -> tuple[Callable[[int], ReaderBatch], int]:
        """Batches of contexts of about one length, in another order each epoch.

        Args:
            how: as `Batching` has them.
        Returns: `batches(step)`, and the steps of an epoch.
        Raises: InputError as `epoch_batches`.
        """
        lengths = (self.lengths(),)
        rows_of, steps, own = epoch_batches(len(self), what="questions", lengths=lengths, pool=POOLED, **how)
        return lambda step: self.batch(rows_of(step)[own]), steps
