"""The tagging head: a learned mix of the frozen encoder's layers, small Transformer layers, a linear tag layer.

Shape key: B sentences of one length, T words, L layers of the encoder, D features, K tags.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, final

import torch
from torch import Tensor, nn

from paraform.encoders import dimension_of
from paraform.records import InputError

SHAPES = ("lower", "title", "upper", "mixed", "number", "punctuation")


def word_shape(word: str) -> int:
    """Index into `SHAPES`: what an uncased encoder cannot see of a word."""
    if any(letter.isdigit() for letter in word):
        return 4
    if not any(letter.isalpha() for letter in word):
        return 5
    if word.islower():
        return 0
    if word.isupper() and len(word) > 1:
        return 2
    return 1 if (word[0].isupper() and word[1:].islower()) or len(word) == 1 else 3


@dataclass(frozen=True)
class TagHeadConfig:
    """Sizes and training of the tagging head.

    Args:
        encoder: name of the frozen encoder.
        first_layer, last_layer: of the encoder, mixed with all between; 0 is the embeddings.
        width, feed_forward, heads, depth: of the Transformer layers, in features, features, heads, layers.
        dropout: on the mix and inside the Transformer layers.
        learning_rate: AdamW's peak, one linear warm-up and a linear decay to 0.
        weight_decay: AdamW's.
        label_smoothing: of the cross-entropy.
        batch_words: words a step, about.
        epochs: passes over the trees.
        lower_case: share of training sentences whose capitals are hidden, so that lower-cased text is tagged as well.
    """

    encoder: str = "minilm"
    first_layer: int = 1
    last_layer: int = 3
    width: int = 192
    feed_forward: int = 768
    heads: int = 6
    depth: int = 2
    dropout: float = 0.2
    learning_rate: float = 1.5e-3
    weight_decay: float = 0.01
    lower_case: float = 0.5
    label_smoothing: float = 0.05
    batch_words: int = 700
    epochs: int = 10

    @property
    def layers(self) -> tuple[int, ...]:
        """The layers that are mixed."""
        return tuple(range(self.first_layer, self.last_layer + 1))


@final
class TagHead(nn.Module):
    """Encoder states and word shapes in, a score for every tag out.

    Args:
        config: sizes.
        tags: the tag set, in the order of the scores.
        encoder_width: features of one encoder state.
    """

    system: ClassVar[str] = "tag-head"

    def __init__(self, config: TagHeadConfig, tags: Sequence[str], encoder_width: int = 384) -> None:
        super().__init__()
        self.config = config
        self.tags = tuple(tags)
        self.mix = nn.Parameter(torch.zeros(len(config.layers)))
        self.project = nn.Linear(encoder_width, config.width)
        self.shape = nn.Embedding(len(SHAPES), config.width)
        self.dropout = nn.Dropout(config.dropout)
        layer = nn.TransformerEncoderLayer(
            config.width,
            config.heads,
            config.feed_forward,
            config.dropout,
            activation="gelu",
            batch_first=True,
            norm_first=True,
        )
        # A nested tensor serves padding, and there is none: a batch holds sentences of one length.
        self.layers = nn.TransformerEncoder(layer, config.depth, nn.LayerNorm(config.width), enable_nested_tensor=False)
        self.score = nn.Linear(config.width, len(self.tags))

    def forward(self, states_LBTD: Tensor, shapes_BT: Tensor) -> Tensor:
        """Tag scores [B, T, K] (logits)."""
        mixed_BTD = torch.einsum("l,lbtd->btd", torch.softmax(self.mix, 0), states_LBTD)
        hidden_BTD = self.project(self.dropout(mixed_BTD)) + self.shape(shapes_BT)
        scores_BTK: Tensor = self.score(self.layers(hidden_BTD))
        return scores_BTK

    def assets(self) -> dict[str, str]:
        """The tag set, one a line."""
        return {"tags.txt": "\n".join(self.tags) + "\n"}

    @classmethod
    def restore(cls, config: dict[str, Any], assets: dict[str, str]) -> TagHead:
        """A head with fresh weights from what a checkpoint holds."""
        if "tags.txt" not in assets:
            raise InputError("the tagging head lacks tags.txt; expected one tag a line")
        try:
            known = TagHeadConfig(**config)
            return cls(known, assets["tags.txt"].split(), dimension_of(known.encoder))
        except (TypeError, ValueError, RuntimeError, AssertionError) as error:  # what a foreign config sets off
            raise InputError(f"the tagging head's config: {error}") from error
