"""Scores of gold words and their normalisers against the whole softmax at once."""

from __future__ import annotations

import pytest
import torch

from paraform.losses import vocabulary
from paraform.losses.vocabulary import vocabulary_scores

N, V, D = 23, 11, 5


@pytest.mark.parametrize("cells", [1, 4 * V, vocabulary.CELLS])
def test_values_and_gradients_are_those_of_the_whole_softmax(cells: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(vocabulary, "CELLS", cells)
    torch.manual_seed(0)
    features, weight, bias = (
        torch.randn(*shape, dtype=torch.float64, requires_grad=True) for shape in ((N, D), (V, D), (V,))
    )
    gold = torch.randint(0, V, (N,))
    mixed = torch.rand(N, dtype=torch.float64)

    def loss(gold_N: torch.Tensor, normalizer_N: torch.Tensor) -> torch.Tensor:
        return (mixed * gold_N.sin()).sum() - (normalizer_N * normalizer_N * mixed).sum()

    logits = features @ weight.t() + bias
    expected = logits[torch.arange(N), gold], logits.exp().sum(1).log()
    found = vocabulary_scores(features, weight, bias, gold)
    for one, other in zip(found, expected, strict=True):
        torch.testing.assert_close(one, other)
    inputs = (features, weight, bias)
    gradients = torch.autograd.grad(loss(*found), inputs), torch.autograd.grad(loss(*expected), inputs)
    for one, other in zip(*gradients, strict=True):
        torch.testing.assert_close(one, other)


def test_log_probabilities_are_those_of_cross_entropy() -> None:
    torch.manual_seed(0)
    features, weight, bias = 30 * torch.randn(N, D), torch.randn(V, D), torch.randn(V)
    gold = torch.randint(0, V, (N,))
    found = vocabulary_scores(features, weight, bias, gold)
    expected = torch.nn.functional.cross_entropy(features @ weight.t() + bias, gold, reduction="none")
    torch.testing.assert_close(found.log_normalizer_N - found.gold_N, expected)


def test_no_words_have_no_scores() -> None:
    weight = torch.randn(V, D, requires_grad=True)
    found = vocabulary_scores(torch.empty(0, D), weight, torch.zeros(V), torch.empty(0, dtype=torch.int64))
    found.gold_N.sum().backward()
    assert found.log_normalizer_N.shape == (0,) and weight.grad is not None and not weight.grad.any()
