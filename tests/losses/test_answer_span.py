"""The loss of an answer's ends against its equation, question by question."""

from __future__ import annotations

import math

import pytest
import torch

from paraform_papers.par.reader.answer_span import answer_span_nll


def test_the_equation_question_by_question() -> None:
    torch.manual_seed(0)
    scores = torch.randn(2, 3, 5)
    scores[:, 1, 3:] = -torch.inf  # a shorter context
    starts, ends = torch.tensor([0, 1, 4]), torch.tensor([2, 2, 4])
    start, end = scores.log_softmax(-1)
    expected = 0.0
    for row in range(3):
        for side, at in ((scores[0, row], int(starts[row])), (scores[1, row], int(ends[row]))):
            expected -= math.log(math.exp(float(side[at])) / sum(math.exp(float(one)) for one in side)) / 3
    assert answer_span_nll(start, end, starts, ends).item() == pytest.approx(expected, abs=1e-5)


def test_other_shapes() -> None:
    with pytest.raises(ValueError, match=r"expected \[B, T\] twice and \[B\] twice"):
        answer_span_nll(torch.zeros(2, 3), torch.zeros(2, 4), torch.zeros(2).long(), torch.zeros(2).long())
