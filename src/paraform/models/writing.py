"""Writing rows with a step decoder, those of like length together, which several systems share.

Shape key: N rows that are decoded together, T units of the longest.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
import torch

from paraform.batching import Ragged, SentenceBatch
from paraform.decoding import Decoding, Rationed, Step, decode, rationed
from paraform.models.exemplar.step_decoder import decoding_batches
from paraform.progress import track
from paraform.records import require_count

BATCH = 256  # sentences that are decoded together, if the caller does not say


class Ends(NamedTuple):
    """How writing begins and ends: the numbers before the first unit and behind the last, the most units without
    the end, and what a beam's hypotheses are ranked by (`decoding.beam`)."""

    start: int
    stop: int
    longest: int
    length_penalty: float = 1.0


def written_rows(
    begin: Callable[[Sequence[int]], Any],
    step: Step[Any],
    lengths: tuple[Sequence[int], Sequence[int]],
    how: Decoding,
    ends: Ends,
    device: torch.device,
    *,
    free: int | None = None,
) -> list[list[int]]:
    """What is decoded of each row, as columns of the step's scores, without its end: `ends.longest` of them at most.

    Args:
        begin: the rows that are decoded together → their state, whose `source_BS` holds their sources' columns.
        step: as `decoding` has it.
        lengths: by row those of its form and of its source; rows of like ones are decoded together.
        free: columns below it have no ration (`decoding.rationed`); None: nothing is rationed.
    Raises: InputError for a batch of no row.
    """
    size = how.get("batch_size", BATCH)
    require_count(size, "batch_size", 1)
    generator = torch.Generator(device).manual_seed(how.get("seed", 0))
    out: list[list[int]] = [[] for _ in lengths[0]]
    parts = decoding_batches(*lengths, size)
    for rows in track(parts, "paraphrasing", show=how.get("progress", False)):
        state, following = begin(rows), step
        if free is not None:
            state, following = Rationed.of(state, state.source_BS), rationed(step, stop=ends.stop, free=free)
        tokens_NT = decode(
            following, state, len(rows), how, generator,
            start=ends.start, stop=ends.stop, longest=ends.longest + 1, length_penalty=ends.length_penalty,
        )  # fmt: skip
        for row, columns in zip(rows, tokens_NT.tolist(), strict=True):
            out[row] = columns[: columns.index(ends.stop) if ends.stop in columns else ends.longest]
    return out


def numbers_batch(rows: Sequence[Sequence[int]], device: torch.device) -> SentenceBatch:
    """Rows of numbers side by side, on that device."""
    padded_NT, lengths_N = Ragged.of(rows).padded(np.arange(len(rows)))
    return SentenceBatch(padded_NT.to(device), lengths_N)
