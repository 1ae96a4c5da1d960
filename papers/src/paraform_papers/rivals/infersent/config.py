"""Every number and choice of InferSent, and where its two published versions and we disagree."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any, ClassVar, Literal

from paraform.fields import MOST_WIDTH, Amount, Between, Count, Positive, Width, require_types, with_fields


@dataclass(frozen=True)
class InferSentConfig:
    """InferSent (Conneau et al. 2017); the defaults are what we recommend on a small corpus and two cores.

    Fields in which the published versions and the default disagree:

    Args:
        pool_padding: the maximum is also over the zeros behind a sentence that is shorter than its batch's longest, so
            that vectors depend on the batch (version 1).
        marks: what stands around a sentence if it has a vector: "<s>" and "</s>" (version 1), "<p>" and "</p>" (version
            2), or "none".
        word_vectors: a GloVe or word2vec text file, whose words are found as they are written (glove.840B.300d.txt in
            version 1, fastText's crawl-300d-2M.vec in 2), or an encoder's name: then a word's vector is the encoder's
            of it alone, which stands in for GloVe. They stay as they are; words without one are left out.
        word_scale: factor on them; an encoder's have length 1, and GloVe's about 5.
        hidden_width: features of the LSTM each way, so that a vector has twice as many; 2,048 in both.
        optimiser, learning_rate: "sgd" with 0.1 in both, or "adam". On SICK's few pairs the rate of SGD, divided after
            each validation without a new best, is gone before anything is learned.

    Fields that are the same in all:

    Args:
        classifier_width: of the head's hidden layers; 0: no head, as of published weights, which have none.
        batch_size: pairs a step, over all processes.
        epochs: passes over the pairs.
    """

    removed: ClassVar[Mapping[str, object]] = {
        "nonlinearity": "none", "decay": 0.99, "shrink": 5.0, "least_rate": 1e-5, "clip_norm": 5.0, "max_tokens": 512,
    }  # fmt: skip
    """Fields that checkpoints of 0.1.0 may name, and the only value that each still has."""

    pool_padding: bool = False
    marks: Literal["<s>", "<p>", "none"] = "none"
    word_vectors: str = "minilm"
    word_scale: Positive = 5.0
    hidden_width: Width = 512
    optimiser: Literal["sgd", "adam"] = "adam"
    learning_rate: Amount = 1e-3

    classifier_width: Annotated[int, Between(0, MOST_WIDTH)] = 512
    batch_size: Count = 64
    epochs: Annotated[int, Between(1, 1_000_000)] = 20

    def __post_init__(self) -> None:
        require_types(self)

    @classmethod
    def first(cls, **fields: Any) -> InferSentConfig:
        """Version 1 as the authors' code behaves: GloVe, and zeros of the padding in the maximum."""
        preset = cls(
            pool_padding=True,
            marks="<s>",
            word_vectors="glove.840B.300d.txt",
            word_scale=1.0,
            hidden_width=2048,
            optimiser="sgd",
            learning_rate=0.1,
        )
        return with_fields(preset, fields)

    @classmethod
    def second(cls, **fields: Any) -> InferSentConfig:
        """Version 2 as the authors' code behaves: fastText, and no padding in the maximum."""
        preset = cls(
            marks="<p>",
            word_vectors="crawl-300d-2M.vec",
            word_scale=1.0,
            hidden_width=2048,
            optimiser="sgd",
            learning_rate=0.1,
        )
        return with_fields(preset, fields)
