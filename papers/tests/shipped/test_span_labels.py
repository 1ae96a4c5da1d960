from __future__ import annotations

import math

import pytest
import torch

from paraform_papers.shipped.span_labels import span_label_nll


def test_equal_scores() -> None:
    """P spans, C labels, all scores equal: P ln C nats a sentence, whatever the gold labels."""
    labels = torch.randint(0, 4, (2, 6))
    assert span_label_nll(torch.ones(2, 6, 4), labels, 6).item() == pytest.approx(2 * 6 * math.log(4) / 6)


def test_equals_the_sum_written_out() -> None:
    torch.manual_seed(0)
    scores, labels = torch.randn(3, 6, 5, dtype=torch.float64), torch.randint(0, 5, (3, 6))
    total = 0.0
    for row in range(3):
        for span in range(6):
            exps = [math.exp(value) for value in scores[row, span].tolist()]
            total -= math.log(exps[int(labels[row, span])] / sum(exps))
    assert span_label_nll(scores, labels, 9).item() == pytest.approx(total / 9)


def test_shapes() -> None:
    with pytest.raises(ValueError, match=r"scores \(2, 6, 4\) and labels \(2, 5\) of 6 words"):
        span_label_nll(torch.ones(2, 6, 4), torch.zeros(2, 5, dtype=torch.long), 6)
    with pytest.raises(ValueError, match="of 0 words"):
        span_label_nll(torch.ones(2, 6, 4), torch.zeros(2, 6, dtype=torch.long), 0)
