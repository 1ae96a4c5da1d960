"""The word position loss by hand: three words, the last of another sentence beyond the last place."""

from __future__ import annotations

import math

import pytest
import torch

from paraform_papers.rivals.vgvae.word_position import word_position_nll


def test_by_hand() -> None:
    logits = torch.tensor([[[1.0, 0.0], [0.0, 3.0], [9.0, 9.0]], [[0.0, 2.0], [7.0, 7.0], [7.0, 7.0]]])
    found = word_position_nll(logits, torch.tensor([3, 1]))
    first = -math.log(math.e / (math.e + 1))
    second = -math.log(math.e**3 / (math.e**3 + 1))
    alone = -math.log(1 / (1 + math.e**2))
    assert found.tolist() == pytest.approx([(first + second) / 2, alone])  # of three words two have a place


def test_words_that_are_not_there_and_what_cannot_be() -> None:
    logits = torch.randn(2, 3, 5, requires_grad=True)
    word_position_nll(logits, torch.tensor([2, 0])).sum().backward()
    assert logits.grad is not None
    assert not logits.grad[0, 2].any() and not logits.grad[1].any() and bool(logits.grad[0, :2].any())
    with pytest.raises(ValueError, match=r"\[2, 3, 5\] logits, \[3\] lengths"):
        word_position_nll(logits, torch.tensor([1, 1, 1]))
