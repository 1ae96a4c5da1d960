"""The syntax head: frozen encoder states in, a score for every tag of every word and every label of every span out.

The states of some of the encoder's layers, side by side, go through small Transformer layers. Words have their tags
from them by a linear layer. A span's score is that of the difference between the fenceposts at its ends, of which the
first half comes from the word before and the second from the word behind (Kitaev & Klein 2018; Kitaev et al. 2019).

Shape key: B sentences of one length, T words, P = T (T + 1) / 2 spans in the order of `chart.span_ends`, L layers of
the encoder, D features, W features of the head, K tags, C labels, the first of them "no constituent".
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple, final

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from paraform.encoders import dimension_of
from paraform.fields import MOST_LAYERS, MOST_WIDTH, require_types
from paraform.records import InputError

SHAPES = ("lower", "title", "upper", "mixed", "number", "punctuation")
NO_LABEL = "-"  # of spans that are no constituent; a treebank's labels are letters


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
class SyntaxHeadConfig:
    """Sizes and training of the syntax head.

    Args:
        encoder: name of the frozen encoder.
        first_layer, last_layer: layers of the encoder; these and all between are read. 0 is the embeddings.
        width, feed_forward, heads, depth: sizes of the Transformer layers, in features, features, heads, layers.
        span_width: features of a span.
        dropout: on the states, inside the Transformer layers, and on the spans.
        learning_rate: AdamW's peak, one linear warm-up and a linear decay to 0.
        weight_decay: AdamW's.
        label_smoothing: the smoothing of the tags' cross-entropy.
        lower_case: share of training sentences whose capitals are hidden, so that lower-cased text is tagged as well.
        batch_words: words a step, about.
        epochs: passes over the trees.
    """

    encoder: str = "minilm"
    first_layer: int = 0
    last_layer: int = 4
    width: int = 320
    feed_forward: int = 1280
    heads: int = 8
    depth: int = 3
    span_width: int = 256
    dropout: float = 0.2
    learning_rate: float = 1e-3
    weight_decay: float = 0.01
    label_smoothing: float = 0.05
    lower_case: float = 0.3
    batch_words: int = 1200
    epochs: int = 16

    def __post_init__(self) -> None:
        require_types(self)
        if not 0 <= self.first_layer <= self.last_layer <= MOST_LAYERS or not 0 <= self.depth <= MOST_LAYERS:
            layers = f"first_layer {self.first_layer}, last_layer {self.last_layer}, depth {self.depth}"
            raise ValueError(f"{layers}; expected layers in their order and at most {MOST_LAYERS}")
        for name in ("width", "feed_forward", "heads", "span_width"):
            if not 1 <= getattr(self, name) <= MOST_WIDTH:
                raise ValueError(f"{name} {getattr(self, name)}; expected 1 to {MOST_WIDTH}")

    @property
    def layers(self) -> tuple[int, ...]:
        """The layers that are read."""
        return tuple(range(self.first_layer, self.last_layer + 1))


class SyntaxScores(NamedTuple):
    """Logits: tags [B, T, K]; spans [B, P, C], those of the first label 0."""

    tags_BTK: Tensor
    spans_BPC: Tensor


@final
class SyntaxHead(nn.Module):
    """Encoder states and word shapes in, scores of tags and spans out.

    Args:
        config: sizes.
        tags: the tag set, in the order of the scores.
        labels: constituents, those over the same words joined (`spans.joined`), without `NO_LABEL`.
        encoder_width: features of one encoder state.
    """

    system: ClassVar[str] = "syntax-head"

    def __init__(
        self, config: SyntaxHeadConfig, tags: Sequence[str], labels: Sequence[str], encoder_width: int = 384
    ) -> None:
        super().__init__()
        self.config = config
        self.tags = tuple(tags)
        self.labels = (NO_LABEL, *labels)
        self.project = nn.Linear(len(config.layers) * encoder_width, config.width)
        self.shape = nn.Embedding(len(SHAPES), config.width)
        self.ends = nn.Parameter(torch.empty(2, config.width))  # what stands before and behind the sentence
        nn.init.normal_(self.ends, std=0.02)
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
        self.tag = nn.Linear(config.width, len(self.tags))
        self.span = nn.Linear(config.width, config.span_width)
        self.span_norm = nn.LayerNorm(config.span_width)
        self.label = nn.Linear(config.span_width, len(self.labels) - 1)

    def forward(self, states_BTLD: Tensor, shapes_BT: Tensor) -> SyntaxScores:
        """Scores of tags and of spans."""
        hidden_BTW = self.encode(states_BTLD, shapes_BT)
        return SyntaxScores(self.tag_scores(hidden_BTW), self.span_scores(hidden_BTW))

    def encode(self, states_BTLD: Tensor, shapes_BT: Tensor) -> Tensor:
        """Features of every word, and of what stands before and behind the sentence: [B, T + 2, W]."""
        states_BTLD = F.layer_norm(states_BTLD, states_BTLD.shape[-1:])  # layers differ in scale
        words_BTW = self.project(self.dropout(states_BTLD.flatten(2))) + self.shape(shapes_BT)
        before_B1W, behind_B1W = self.ends[:, None, None].expand(2, len(words_BTW), 1, -1)
        hidden_BTW: Tensor = self.layers(torch.cat([before_B1W, words_BTW, behind_B1W], dim=1))
        return hidden_BTW

    def tag_scores(self, hidden_BTW: Tensor) -> Tensor:
        """[B, T, K], from what `encode` returned."""
        scores_BTK: Tensor = self.tag(hidden_BTW[:, 1:-1])
        return scores_BTK

    def span_scores(self, hidden_BTW: Tensor) -> Tensor:
        """[B, P, C], from what `encode` returned."""
        half = self.config.width // 2
        posts_BFW = torch.cat([hidden_BTW[:, :-1, :half], hidden_BTW[:, 1:, half:]], dim=-1)
        # The layer is linear, so that it sees each fencepost once and not each span.
        posts_BFW = F.linear(posts_BFW, self.span.weight)
        starts_P, ends_P = torch.triu_indices(posts_BFW.shape[1], posts_BFW.shape[1], offset=1, device=posts_BFW.device)
        spans_BPW = posts_BFW[:, ends_P] - posts_BFW[:, starts_P] + self.span.bias
        scores_BPC = self.label(self.dropout(F.relu(self.span_norm(spans_BPW))))
        return F.pad(scores_BPC, (1, 0))

    def assets(self) -> dict[str, str]:
        """The tag set and the labels, one a line."""
        return {"tags.txt": "\n".join(self.tags) + "\n", "labels.txt": "\n".join(self.labels[1:]) + "\n"}

    @classmethod
    def restore(cls, config: dict[str, Any], assets: dict[str, str]) -> SyntaxHead:
        """A head with fresh weights from what a checkpoint holds."""
        for name in ("tags.txt", "labels.txt"):
            if not assets.get(name, "").split():
                raise InputError(f"the syntax head lacks {name}; expected one a line")
        try:
            known = SyntaxHeadConfig(**config)
            tags, labels = assets["tags.txt"].split(), assets["labels.txt"].split()
            return cls(known, tags, labels, dimension_of(known.encoder))
        except (TypeError, ValueError, RuntimeError, AssertionError) as error:  # what a foreign config sets off
            raise InputError(f"the syntax head's config: {error}") from error
