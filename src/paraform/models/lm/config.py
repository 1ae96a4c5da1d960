"""Every number and choice of a language model that paraphrases."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any, Literal, TypeAlias

from paraform.fields import (
    MOST_STEPS,
    Amount,
    Between,
    Count,
    Positive,
    Share,
    Whole,
    Width,
    require_types,
    with_fields,
)
from paraform.syntax.heights import LOWEST
from paraform.syntax.trees import MAX_DEPTH

Guide: TypeAlias = Literal["none", "text", "tags", "template", "style"]


@dataclass(frozen=True)
class LMConfig:
    """Low-rank adapters (Hu et al. 2022, LoRA) on a causal language model; the defaults are what we recommend.

    Args:
        base: the language model: "smollm2", a folder, or a hub id.
        guide: what tells the form: an exemplar's "text", its "tags", its tree cut at a height ("template"), CRL-EGPG's
            "style" vector of it, or "none".
        unguided: share of the pairs that are trained on without a guide, so that one model answers with and without.
        height: of a template, levels of the tree with ROOT's own.
        style_encoder: of guide "style", the frozen encoder whose states the style vector is made of.
        style_width: half of that vector's features.
        style_pieces: soft pieces that the prompt has of it.
        temperature: τ of both contrasts of guide "style", by cosine.
        content_weight: λ1, on the contrast of a source's pooled states with its target's; 0 leaves it out.
        style_weight: λ2, on the contrast of an exemplar's style vector with its target's; 0 leaves it out.
        rank: of each adapter; 0: all weights are trained, and kept.
        layers: how many of the upper layers have adapters: below the lowest of these nothing is taken backwards.
        max_pieces: the most pieces of a prompt; of a longer one the guide is cut, then the source.
        max_written: the most pieces of a target, its end counted.
        learning_rate: AdamW's, at its highest.
        warmup: steps in which it rises to that, at most half of all; then it falls in a straight line to 0.
        batch_size: pairs a step, over all processes.
        epochs: passes over the pairs.
    """

    base: str = "smollm2"
    guide: Guide = "none"
    unguided: Share = 0.5
    height: Annotated[int, Between(LOWEST, MAX_DEPTH)] = 4
    style_encoder: str = "minilm"
    style_width: Width = 128
    style_pieces: Count = 4
    temperature: Positive = 0.5
    content_weight: Amount = 0.1
    style_weight: Amount = 0.1
    rank: Whole = 16
    layers: Count = 20
    max_pieces: Annotated[int, Between(32, MOST_STEPS)] = 160
    max_written: Annotated[int, Between(8, MOST_STEPS)] = 96
    learning_rate: Amount = 6e-4
    warmup: Whole = 20
    batch_size: Count = 32
    epochs: Count = 1

    def __post_init__(self) -> None:
        require_types(self)

    @classmethod
    def whole(cls, **fields: Any) -> LMConfig:
        """All weights trained: for a GPU."""
        return with_fields(cls(rank=0, learning_rate=2e-5, warmup=100), fields)
