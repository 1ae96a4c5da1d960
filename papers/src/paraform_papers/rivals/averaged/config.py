"""Every number and choice of sp-average."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any, ClassVar

from paraform.fields import Amount, Between, Width, require_types, with_fields

Million = Annotated[int, Between(1, 1_000_000)]


@dataclass(frozen=True)
class AveragedConfig:
    """sp-average (Wieting et al. 2021, *Paraphrastic Representations at Scale*); the defaults are what we recommend.

    Fields in which the default is smaller than the authors' released code, `reference()`:

    Args:
        width: features of a vector; 1,024 in the code.
        megabatch: batches, at most, among whose sentences the hardest negatives are sought; 100 in the code.
        epochs: passes over the pairs; 25 in the code.

    Fields that are the same in both:

    Args:
        vocabulary_size: subwords, at most. They are learnt from the training texts (byte-pair encoding of lower-cased
            words and punctuation; the code has SentencePiece).
        batch_size: pairs an optimisation step, over all processes.
        learning_rate: Adam's.
    """

    removed: ClassVar[Mapping[str, object]] = {
        "margin": 0.4, "growth": 4, "spread": 0.1, "least_score": 0.0, "most_overlap": 1.0,
    }  # fmt: skip
    """Fields that checkpoints of 0.1.0 may name, and the only value that each still has."""

    width: Width = 300
    megabatch: Annotated[int, Between(1, 10_000)] = 60
    epochs: Million = 10

    vocabulary_size: Million = 20_000
    batch_size: Annotated[int, Between(2, math.inf)] = 128
    learning_rate: Amount = 1e-3

    def __post_init__(self) -> None:
        require_types(self)

    @classmethod
    def reference(cls, **fields: Any) -> AveragedConfig:
        """As the authors' released code trains; how fast its mega-batch grows is not known to us."""
        return with_fields(cls(width=1024, megabatch=100, epochs=25), fields)
