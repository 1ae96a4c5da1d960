"""No token twice running, none more often than its source has it, and `stop` always."""

from __future__ import annotations

from typing import NamedTuple

import pytest
import torch
from torch import Tensor

from paraform import decoding

START, STOP = 0, 1


class Nothing(NamedTuple):
    """A state that remembers nothing."""

    rows: Tensor

    def select(self, rows_N: Tensor) -> Nothing:
        return Nothing(self.rows[rows_N])


def stutter(state: Nothing, tokens_N: Tensor) -> tuple[Tensor, Nothing]:
    """Always prefers 2, then 3, then to stop."""
    return torch.tensor([-9.0, -3.0, -1.0, -2.0]).expand(len(tokens_N), -1).clone(), state


def said(source: list[int], free: int = 0) -> list[int]:
    state = decoding.Constrained.of(Nothing(torch.arange(1)), torch.tensor([source]))
    step = decoding.constrain_repetition(stutter, stop=STOP, free=free)
    row = decoding.greedy(step, state, 1, start=START, stop=STOP, max_tokens=8)[0]
    return [token for token in row.tolist() if token != STOP]


def test_each_token_is_said_as_often_as_in_the_source_and_never_twice_running() -> None:
    assert said([2, 3, 2]) == [2, 3, 2]
    assert said([2, 3]) == said([0]) == [2, 3]  # a token that the source lacks is said once
    assert said([2, 2, 2]) == [2, 3, 2]  # another 2 would stand beside the last
    assert said([0], free=3) == [2, 3, 2]
    assert said([0], free=4) == [2, 3, 2, 3, 2, 3, 2, 3]


def test_a_beam_shares_no_counts_between_its_hypotheses() -> None:
    """The likeliest sentence of log-probabilities −1, −2, −3 (stop) is to stop at once; all obey the constraint."""
    state = decoding.Constrained.of(Nothing(torch.arange(1)), torch.tensor([[0]]))
    step = decoding.constrain_repetition(stutter, stop=STOP)
    tokens, scores = decoding.beam(step, state, 1, start=START, stop=STOP, max_tokens=4, width=5)
    found = {  # a score is the mean of a sentence's words and its end
        tuple(token for token in row if token != STOP): score * (row.index(STOP) + 1)
        for row, score in zip(tokens[0].tolist(), scores[0].tolist(), strict=True)
        if score > float("-inf")
    }
    assert found == pytest.approx({(): -3.0, (2,): -4.0, (3,): -5.0, (2, 3): -6.0, (3, 2): -6.0})
