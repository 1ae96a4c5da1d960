"""Copying by hand, on a vocabulary of three words and a source with one that it lacks."""

from __future__ import annotations

import math

import pytest
import torch
from torch import nn

from paraform.models.copying import Scorer, forced, gold_log_probs, source_columns

WORDS = 3  # "a", "b", "c", of which "a" is never written; number 3 is "z", which the vocabulary lacks
SOURCE = [1, 3, 3]  # b z z
WRITE, COPY, GATE = [0.2, 0.3, 0.5], [0.5, 0.3, 0.2], 0.25  # p_write of a, b, c; what each place is read by; g


def by_hand(write: list[float]) -> dict[str, float]:
    """The probability of each word: p_copy of "b" is 0.5, of "z" 0.3 + 0.2."""
    copied = {"a": 0.0, "b": 0.5, "c": 0.0, "z": 0.5}
    written = dict(zip("abcz", [*write, 0.0], strict=True))
    return {word: (1 - GATE) * written[word] + GATE * copied[word] for word in "abcz"}


def gate() -> torch.Tensor:
    return torch.tensor(GATE).logit()


def test_gold_words_by_hand() -> None:
    """Targets "b z" and "c": their words and ends, of which the second's padding is none; the end is word 2, "c"."""
    target = forced(torch.tensor([[1, 3], [2, 0]]), torch.tensor([2, 1]), start=0, stop=2)
    assert target.previous_BT.tolist() == [[0, 1, 3], [0, 2, 0]]
    assert target.gold_BT.tolist() == [[1, 3, 2], [2, 2, 0]]
    assert target.there_BT.tolist() == [[True] * 3, [True, True, False]] and target.lengths_B.tolist() == [3, 2]
    logits_NV = torch.tensor(WRITE).log().repeat(5, 1)
    copy_BTS = torch.tensor(COPY).log().expand(2, 3, 3)
    found = gold_log_probs(logits_NV, gate().expand(2, 3), copy_BTS, torch.tensor([SOURCE] * 2), target)
    probs = by_hand(WRITE)
    assert found.exp().tolist() == pytest.approx([probs[word] for word in "bzccc"], rel=1e-5)
    plain = gold_log_probs(logits_NV, None, None, torch.tensor([SOURCE] * 2), target)
    assert plain.exp().tolist() == pytest.approx([0.3, 0.3, 0.5, 0.5, 0.5])  # `UNK`, number 1, stands for "z"


def test_a_step_by_hand() -> None:
    """The same scores where a step is decoded; "a" is never written, so that the others share what it had."""
    output = nn.Linear(1, WORDS)
    with torch.no_grad():
        output.weight.zero_()
        output.bias.copy_(torch.tensor(WRITE).log())
    columns_NS = source_columns(torch.tensor([SOURCE, [1, 0, 0]]), WORDS)
    assert columns_NS.tolist() == [[1, 4, 4], [1, 0, 0]]  # "z" is the column of the second word, where it first stands
    score = Scorer(output, 3, (0,))
    copy_NS = torch.tensor([COPY, [1.0, 0.0, 0.0]]).log()
    first, second = score(torch.zeros(2, 1), gate().expand(2), copy_NS, columns_NS).tolist()
    expected = {word: math.log(p or 1) for word, p in by_hand([0.0, 0.3 / 0.8, 0.5 / 0.8]).items()}
    never = float("-inf")
    assert first == pytest.approx([never, expected["b"], expected["c"], never, expected["z"], never], rel=1e-5)
    assert second[0] == never and second[3:] == [never] * 3
    assert sum(math.exp(number) for number in first) == pytest.approx(1.0, abs=1e-6)


def test_gradients_are_finite_where_nothing_can_be_copied() -> None:
    parts = [torch.zeros(2, WORDS, requires_grad=True), torch.zeros(1, 2, requires_grad=True)]
    copy_BTS = torch.zeros(1, 2, 1, requires_grad=True)
    target = forced(torch.tensor([[2]]), torch.tensor([1]), start=0, stop=1)
    gold_log_probs(parts[0], parts[1], copy_BTS, torch.tensor([[3]]), target).sum().backward()
    for part in (*parts, copy_BTS):
        assert part.grad is not None and torch.isfinite(part.grad).all()
