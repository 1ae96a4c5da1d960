"""Writing rows with a step decoder, those of like length together, which several systems share.

Shape key: N rows that are decoded together, T units of the longest.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import torch

from paraform.batching import Ragged, SentenceBatch
from paraform.decoding import Constrained, Decoding, Step, constrain_repetition, decode
from paraform.progress import track
from paraform.spans import cut, written
from paraform.words import recase, tokenize

BATCH = 256  # sentences that are decoded together, if the caller does not say


class Ends(NamedTuple):
    """How writing begins and ends.

    Args:
        start, stop: the numbers before the first unit and behind the last.
        longest: the most units without the end.
        room: steps behind the longest, in which it may still end.
    """

    start: int
    stop: int
    longest: int
    room: int = 1


def written_rows(
    begin: Callable[[Sequence[int]], Any],
    step: Step[Any],
    lengths: tuple[Sequence[int], Sequence[int]],
    how: Decoding,
    ends: Ends,
    device: torch.device,
    *,
    free: int | None = None,
    shown: str = "paraphrasing",
) -> list[list[int]]:
    """What is decoded of each row, as columns of the step's scores, without its end: `ends.longest` of them at most.

    Args:
        begin: the rows that are decoded together → their state, whose `source_BS` holds their sources' columns.
        step: as `decoding` has it.
        lengths: by row those of its form and of its source; rows of like ones are decoded together.
        how: looked at already (`decoding.require_decoding`).
        free: columns below it may stand any number of times (`decoding.constrain_repetition`); None: all may.
        shown: what progress calls the work.
    """
    size = how.get("batch_size", BATCH)
    generator = torch.Generator(device).manual_seed(how.get("seed", 0))
    out: list[list[int]] = [[] for _ in lengths[0]]
    parts = decoding_batches(*lengths, size)
    for rows in track(parts, shown, show=how.get("progress", False)):
        state, following = begin(rows), step
        if free is not None:
            state = Constrained.of(state, state.source_BS)
            following = constrain_repetition(step, stop=ends.stop, free=free)
        tokens_NT = decode(
            following, state, len(rows), how, generator,
            start=ends.start, stop=ends.stop, longest=ends.longest + ends.room,
        )  # fmt: skip
        for row, columns in zip(rows, tokens_NT.tolist(), strict=True):
            out[row] = columns[: columns.index(ends.stop) if ends.stop in columns else ends.longest]
    return out


def as_cased(text: str, cased: Mapping[str, str], source: str) -> str:
    """The text as a person would write it, if it is in lower case; the other arguments as `as_written` has them."""
    return text if text != text.lower() else as_written(tokenize(text), cased, source)


def as_written(words: Sequence[str], cased: Mapping[str, str], source: str) -> str:
    """Lower-cased words as a person would write them, and what is the source's as the source has it.

    Args:
        cased: word → its usual form inside a sentence, where that is not the word itself.
        source: the text that they are said of.
    """
    own = cut(source)
    return written(recase(words, cased, own.words), own)


def numbers_batch(rows: Sequence[Sequence[int]], device: torch.device) -> SentenceBatch:
    """Rows of numbers side by side, on that device."""
    padded_NT, lengths_N = Ragged.of(rows).padded(np.arange(len(rows)))
    return SentenceBatch(padded_NT.to(device), lengths_N)


def decoding_batches(exemplar_lengths: Sequence[int], source_lengths: Sequence[int], size: int) -> list[list[int]]:
    """The rows of each batch, every row once, at most `size` a batch.

    A paraphrase is about as long as its exemplar: rows of like exemplars end together. Of about √(number of batches)
    batches of those, rows of like sources come together, the longer before the shorter, so that little is padding.
    """
    order = sorted(range(len(source_lengths)), key=lambda i: exemplar_lengths[i])
    some = size * max(1, round((len(order) / size) ** 0.5))
    for start in range(0, len(order), some):
        order[start : start + some] = sorted(order[start : start + some], key=lambda i: -source_lengths[i])
    return [order[start : start + size] for start in range(0, len(order), size)]
