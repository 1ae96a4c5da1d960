"""−ln p of gold words against torch's cross-entropy of the whole softmax at once."""

from __future__ import annotations

import pytest
import torch
import torch.nn.functional as F

from paraform.losses import vocabulary
from paraform.losses.vocabulary import LINE, vocabulary_nll


@pytest.mark.parametrize("cells", [1, 4 * LINE, vocabulary.CELLS])
@pytest.mark.parametrize("words", [30, LINE, LINE + 1])
def test_nll_without_bias_equals_cross_entropy(words: int, cells: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(vocabulary, "CELLS", cells)  # one row a part, some, all
    torch.manual_seed(0)
    features, weight = torch.randn(50, 8, requires_grad=True), torch.randn(words, 8, requires_grad=True)
    gold, share = torch.randint(words, (50,)), torch.rand(50)
    own = torch.autograd.grad((vocabulary_nll(features, weight, gold) * share).sum(), (features, weight))
    expected = F.cross_entropy(features @ weight.T, gold, reduction="none")
    torch.testing.assert_close(vocabulary_nll(features, weight, gold), expected)
    torch.testing.assert_close(own, torch.autograd.grad((expected * share).sum(), (features, weight)))
    frozen = torch.autograd.grad((vocabulary_nll(features, weight.detach(), gold) * share).sum(), features)
    torch.testing.assert_close(frozen, own[:1])


def test_nll_in_bfloat16_is_as_near_as_its_rounding() -> None:
    torch.manual_seed(0)
    features = torch.randn(200, 64).bfloat16().requires_grad_()
    weight = (0.2 * torch.randn(300, 64)).requires_grad_()
    gold, share = torch.randint(300, (200,)), torch.rand(200)
    found = vocabulary_nll(features, weight, gold)
    exact = F.cross_entropy(features.float() @ weight.T, gold, reduction="none")
    assert found.dtype == torch.float32
    torch.testing.assert_close(found, exact, atol=0.05, rtol=0.01)
    assert abs((found.mean() - exact.mean()).item()) < 0.005  # roundings are not biased
    own = torch.autograd.grad((found * share).sum(), (features, weight))
    expected = torch.autograd.grad((exact * share).sum(), (features, weight))
    for one, other in zip(own, expected, strict=True):
        assert float((one.float() - other.float()).norm() / other.float().norm()) < 0.01


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16, torch.float32])
@pytest.mark.parametrize("kept", [True, False])
def test_nll_of_words_without_a_probability_in_that_dtype(dtype: torch.dtype, kept: bool) -> None:
    """A cap would make a likelihood too good: scores so far apart that most gold words have a probability of 0."""
    torch.manual_seed(0)
    features, weight = (6 * torch.randn(40, 16)).to(dtype), torch.randn(300, 16).to(dtype)
    gold = torch.randint(300, (40,))
    exact = F.cross_entropy(features.float() @ weight.float().T, gold, reduction="none")
    assert exact.max() > 120
    with torch.set_grad_enabled(kept):
        found = vocabulary_nll(features.requires_grad_(kept), weight.float(), gold)
    torch.testing.assert_close(found.detach(), exact, atol=0.3, rtol=0.01)


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float32])
def test_steps_in_between_do_not_share_probabilities(dtype: torch.dtype) -> None:
    """Two forward passes before the first backward one, larger and smaller batches: each has its own gradient."""
    torch.manual_seed(0)
    weight = torch.randn(30, 8, requires_grad=True)
    batches = [(torch.randn(rows, 8).to(dtype).requires_grad_(), torch.randint(30, (rows,))) for rows in (5, 9, 3)]
    alone = [torch.autograd.grad(vocabulary_nll(x, weight, y).sum(), (x, weight)) for x, y in batches]
    losses = [vocabulary_nll(x, weight, y).sum() for x, y in batches]
    for (x, _), loss, expected in zip(batches, losses, alone, strict=True):
        for one, other in zip(torch.autograd.grad(loss, (x, weight), retain_graph=True), expected, strict=True):
            assert torch.equal(one, other)
    with pytest.raises(RuntimeError, match="goes backwards once"):
        losses[0].backward()
