"""Every number and choice of a judge of meaning."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any

from paraform.fields import MOST_STEPS, Amount, Between, Count, Whole, require_types, with_fields


@dataclass(frozen=True)
class JudgeConfig:
    """Low-rank adapters on an encoder, or a causal language model, that reads both texts at once.

    Args:
        base: "minilm", "smollm2", a folder, or a hub id.
        rank: of each adapter (`models.adapters`).
        layers: how many of the upper layers have adapters; 0: all.
        max_pieces: the most pieces of both texts and the marks around them; of the longer text the end is cut.
        learning_rate: AdamW's, at its highest.
        warmup: steps in which it rises to that, at most half of all; then it falls in a straight line to 0.
        batch_size: pairs a step, over all processes.
        epochs: passes over the pairs.
    """

    base: str = "minilm"
    rank: Count = 64
    layers: Whole = 0
    max_pieces: Annotated[int, Between(16, MOST_STEPS)] = 192
    learning_rate: Amount = 1e-4
    warmup: Whole = 100
    batch_size: Count = 32
    epochs: Count = 1

    def __post_init__(self) -> None:
        require_types(self)

    @classmethod
    def lm(cls, **fields: Any) -> JudgeConfig:
        """On SmolLM2 (`paraform fetch smollm2`), as `smollm2-judge` is."""
        return with_fields(cls(base="smollm2", rank=16, layers=20, learning_rate=5e-4, warmup=40), fields)
