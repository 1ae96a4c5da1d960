"""The layer that remembers, against torch's own, which does not."""

from __future__ import annotations

import torch
from torch import nn

from paraform.models.decoder_layer import begin_layer, run_layer

ROWS, WRITTEN, READ, WIDTH = 3, 5, 4, 8


def made() -> tuple[nn.TransformerDecoderLayer, torch.Tensor, torch.Tensor, torch.Tensor]:
    """A random layer, what is written, what is read, and which of that is some."""
    torch.manual_seed(0)
    layer = nn.TransformerDecoderLayer(WIDTH, 2, 12, 0.3, activation="gelu", batch_first=True).eval()
    for parameter in layer.parameters():
        nn.init.normal_(parameter, std=0.5)
    there = torch.arange(READ) < torch.tensor([4, 1, 3])[:, None]
    return layer, torch.randn(ROWS, WRITTEN, WIDTH), torch.randn(ROWS, READ, WIDTH), there


@torch.no_grad()
def test_all_at_once_it_is_torchs_own_layer() -> None:
    layer, written, read, there = made()
    later = torch.ones(WRITTEN, WRITTEN, dtype=torch.bool).triu(1)
    expected = layer(written, read, tgt_mask=later, memory_key_padding_mask=~there)
    found, memory = run_layer(layer, written, begin_layer(layer, read), there)
    torch.testing.assert_close(found, expected, atol=1e-5, rtol=1e-5)
    assert memory.keys.shape == (ROWS, 2, WRITTEN, WIDTH // 2) == memory.values.shape


@torch.no_grad()
def test_in_parts_it_is_the_same() -> None:
    """Token by token, or two and then three; rows picked in between read and remember their own."""
    layer, written, read, there = made()
    expected, _ = run_layer(layer, written, begin_layer(layer, read), there)
    for parts in ([1] * WRITTEN, [2, 3], [4, 1]):
        memory, start = begin_layer(layer, read), 0
        for count in parts:
            found, memory = run_layer(layer, written[:, start : start + count], memory, there)
            torch.testing.assert_close(found, expected[:, start : start + count], atol=1e-5, rtol=1e-5)
            start += count
    memory = begin_layer(layer, read)
    rows = torch.tensor([2, 0, 2])
    _, memory = run_layer(layer, written[:, :1], memory, there)
    found, _ = run_layer(layer, written[rows, 1:2], memory.select(rows), there[rows])
    torch.testing.assert_close(found, expected[rows, 1:2], atol=1e-5, rtol=1e-5)


def test_dropout_in_training_alone() -> None:
    layer, written, read, there = made()
    still = run_layer(layer, written, begin_layer(layer, read), there)[0]
    layer.train()
    assert not torch.allclose(run_layer(layer, written, begin_layer(layer, read), there)[0], still)
