"""Small encoders with random weights, as their libraries write them."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
import torch
from tokenizers import Tokenizer, models, pre_tokenizers, processors

WORDS = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "a", "dog", "runs", "home", "the", "cat", "sleeps"]
TEXTS = ["a dog runs home", "the cat", "dog", "", "a zebra sleeps", "the dog " * 30, "the cat"]


@pytest.fixture
def texts() -> list[str]:
    """Of several lengths: empty, unknown, twice, too long."""
    return list(TEXTS)


@pytest.fixture
def write_tokenizer() -> Callable[..., None]:
    """Writes a fast tokenizer of a few words, without a pad token, and with or without [CLS] and [SEP]."""

    def write(folder: Path, *, ends: bool = True) -> None:
        tokenizer = Tokenizer(models.WordLevel({word: row for row, word in enumerate(WORDS)}, unk_token="[UNK]"))
        tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
        if ends:
            special = [("[CLS]", 2), ("[SEP]", 3)]
            tokenizer.post_processor = processors.TemplateProcessing(single="[CLS] $A [SEP]", special_tokens=special)
        tokenizer.save(str(folder / "tokenizer.json"))

    return write


@pytest.fixture
def shake() -> Callable[[torch.nn.Module], None]:
    """Draws all weights: fresh biases are 0 and fresh norms 1, which would hide a mistake."""

    def draw(module: torch.nn.Module) -> None:
        torch.manual_seed(0)
        with torch.no_grad():
            for parameter in module.parameters():
                parameter.normal_(std=0.3)

    return draw
