"""Two texts as one row of pieces, and batches of such rows with what is known of them.

    [CLS] first [SEP] second [SEP]
    <start>user\\nRewrite:\\n first <end>\\n<start>assistant\\n second <end>

The first is an encoder's, the second a causal language model's, which reads the pair as a paraphraser that was asked
and answered (`models.lm.prompts`).

Shape key: B pairs of a batch, M of the table, T pieces of the longest row.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple, Unpack, final

import numpy as np
import torch
from numpy.typing import NDArray
from tokenizers import Tokenizer
from torch import Tensor

from paraform.batching import Ragged, SentenceBatch
from paraform.batching.epochs import Batching, Rows, epoch_batches
from paraform.models.lm.prompts import ANSWERED, ASKED
from paraform.records import InputError


@final
class PieceMaker:
    """Makes rows of pairs.

    Args:
        tokenizer: the base's own; it is not changed.
        ends: of a causal model the pieces that begin and end a turn; None: an encoder, whose tokenizer says what
            stands around a text.
        most: pieces of a row; of a longer one the end of the longer text is cut, then of both.
    Raises: InputError if nothing stands around a text, or too little is left for both.
    """

    def __init__(self, tokenizer: Tokenizer, ends: tuple[int, int] | None, most: int) -> None:
        self.tokenizer = Tokenizer.from_str(tokenizer.to_str())
        self.tokenizer.no_padding()
        self.tokenizer.no_truncation()
        self.tokenizer.encode_special_tokens = True  # a text that holds "[SEP]" is a text
        if ends is None:
            around = self.tokenizer.encode("").ids
            if len(around) < 2:
                raise InputError(f"a tokenizer that puts {len(around)} pieces around a text; expected two or more")
            half = (len(around) + 1) // 2
            self.before, self.between, self.after = around[:half], around[half:], around[half:]
        else:
            start, end = ends
            asked, again, answered = self._pieces([ASKED, "\n", ANSWERED])
            self.before, self.between, self.after = [start, *asked], [end, *again, start, *answered], [end]
        self.room = most - len(self.before) - len(self.between) - len(self.after)
        if self.room < 2:
            raise InputError(f"max_pieces {most}: the marks leave room for {max(0, self.room)}; expected more")

    def rows(self, pairs: Sequence[tuple[str, str]]) -> tuple[list[list[int]], list[int], int]:
        """A row for each pair, the place where its second text begins, and how many rows were cut."""
        texts = list(dict.fromkeys(text for pair in pairs for text in pair))
        pieces = dict(zip(texts, self._pieces(texts), strict=True))
        rows, seconds, cut = [], [], 0
        for one, other in ((pieces[a], pieces[b]) for a, b in pairs):
            if len(one) + len(other) > self.room:
                cut += 1
                one = one[: max(self.room - len(other), self.room // 2)]
                other = other[: self.room - len(one)]
            begun = [*self.before, *one, *self.between]
            rows.append([*begun, *other, *self.after])
            seconds.append(len(begun))
        return rows, seconds, cut

    def _pieces(self, texts: Sequence[str]) -> list[list[int]]:
        return [one.ids for one in self.tokenizer.encode_batch_fast(list(texts), add_special_tokens=False)]


class JudgeBatch(NamedTuple):
    """B rows.

    Args:
        seconds_B: where each second text begins.
        known_B3: as `losses.both_ways` has it.
    """

    rows: SentenceBatch
    seconds_B: Tensor
    known_B3: Tensor

    def to(self, device: torch.device) -> JudgeBatch:
        """On that device."""
        return JudgeBatch(self.rows.to(device), self.seconds_B.to(device), self.known_B3.to(device))


@final
@dataclass(frozen=True)
class JudgeTable:
    """M rows.

    Args:
        seconds: [M] where each second text begins.
        known: [M, 3] float32, as `losses.both_ways` has it.
    """

    rows: Ragged
    seconds: Rows
    known: NDArray[np.float32]

    def __len__(self) -> int:
        return len(self.seconds)

    def batch(self, rows: Rows) -> JudgeBatch:
        """Those of them."""
        pieces = SentenceBatch(*self.rows.padded(rows))
        return JudgeBatch(pieces, torch.from_numpy(self.seconds[rows]), torch.from_numpy(self.known[rows]))


def judge_batches(table: JudgeTable, **how: Unpack[Batching]) -> tuple[Callable[[int], JudgeBatch], int]:
    """Batches of rows that are about as long, and the steps of an epoch. Raises: InputError as `epoch_batches`."""
    lengths = (table.rows.lengths(np.arange(len(table))),)
    rows_of, steps, own = epoch_batches(len(table), what="pairs", lengths=lengths, **how)
    return lambda step: table.batch(rows_of(step)[own]), steps
