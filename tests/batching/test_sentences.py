"""Batches of sentences of one length."""

from __future__ import annotations

import numpy as np
import pytest

from paraform.batching import Ragged, sentence_batches
from paraform.records import InputError


def test_batches_are_of_equal_lengths() -> None:
    rows = [[4] * length for length in np.random.default_rng(0).integers(1, 9, 800)]
    batches, steps = sentence_batches(Ragged.of(rows), batch_size=10, seed=0)
    assert steps == 80
    mixed = [len(set(batches(step).lengths_B.tolist())) > 1 for step in range(steps)]
    assert sum(mixed) <= 8  # one where a length ends
    seen = [tuple(map(tuple, batches(step).words_BT.tolist())) for step in (3, 85, 3)]
    assert seen[0] == seen[2]
    halves = [sentence_batches(Ragged.of(rows), batch_size=10, seed=0, rank=rank, world=2)[0](3) for rank in (0, 1)]
    assert sum(len(half.words_BT) for half in halves) == 10
    for given, message in (({"batch_size": 801}, "800 sentences"), ({"batch_size": 3, "world": 2}, "multiple of 2")):
        with pytest.raises(InputError, match=message):
            sentence_batches(Ragged.of(rows), seed=0, **given)
