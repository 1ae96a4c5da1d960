"""The likelihood of targets by hand, and the copying mixtures against their explicit probabilities."""

from __future__ import annotations

import pytest
import torch

from paraform.losses.sequence_nll import copy_log_probs, sequence_nll


def test_mean_over_tokens_then_over_the_batch() -> None:
    """Targets of 2 and 3 tokens: (1 + 3) / 2 = 2 and (2 + 2 + 5) / 3 = 3."""
    log_probs, lengths = -torch.tensor([1.0, 3.0, 2.0, 2.0, 5.0]), torch.tensor([2, 3])
    assert sequence_nll(log_probs, lengths).item() == pytest.approx(2.5)
    assert sequence_nll(log_probs, lengths, reduction="sum").item() == pytest.approx(5.0)


@pytest.mark.parametrize("lengths", [[2, 2], [5, 0], [6]])
def test_lengths_that_do_not_fit(lengths: list[int]) -> None:
    with pytest.raises(ValueError, match="expected one a token"):
        sequence_nll(torch.zeros(5), torch.tensor(lengths))


def test_copying_is_a_mixture() -> None:
    """Vocabulary {0, 1, 2}, and words 3, 4 that only the source holds: every word's probability, and their sum."""
    torch.manual_seed(0)
    logits, gate, attention = torch.randn(3), torch.randn(()), torch.softmax(torch.randn(4), 0)
    source = [1, 3, 3, 4]  # the word at each source position
    softmax, copying = torch.softmax(logits, 0), torch.sigmoid(gate)
    expected = [
        (1 - copying) * (softmax[word] if word < 3 else 0.0)
        + copying * sum(weight for weight, held in zip(attention, source, strict=True) if held == word)
        for word in range(5)
    ]
    gold = torch.arange(5)
    found = copy_log_probs(
        logits.log_softmax(0)[gold.clamp(max=2)],
        gate.expand(5),
        torch.stack([attention[torch.tensor(source) == word].sum() for word in range(5)]),
        gold < 3,
    )
    torch.testing.assert_close(found.exp(), torch.stack(expected))
    assert found.exp().sum().item() == pytest.approx(1.0)


def test_gradients_where_nothing_can_be_copied() -> None:
    """No copy mass and a word the vocabulary holds; no vocabulary and all the mass; both at once."""
    parts = [torch.zeros(3, requires_grad=True) for _ in range(2)]
    mass = torch.tensor([0.0, 1.0, 0.5], requires_grad=True)
    out = copy_log_probs(*parts, mass, torch.tensor([True, False, True]))
    out.sum().backward()
    # gate at 0: half is generated with probability e^0, half is copied
    torch.testing.assert_close(out.exp(), torch.tensor([0.5, 0.5, 0.75]))
    for part in (*parts, mass):
        assert part.grad is not None and torch.isfinite(part.grad).all()
    assert parts[0].grad is not None and parts[0].grad.tolist() == pytest.approx([1.0, 0.0, 2 / 3])
