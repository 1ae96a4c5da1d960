"""Every number and choice of sp-average."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from paraform.fields import MOST_WIDTH, require_types, with_fields
from paraform.records import InputError


@dataclass(frozen=True)
class AveragedConfig:
    """sp-average (Wieting et al. 2021, *Paraphrastic Representations at Scale*); the defaults are what we recommend.

    Fields in which the default is smaller than the authors' released code, `reference()`:

    Args:
        width: features of a vector; 1,024 in the code.
        megabatch: batches, at most, among whose sentences the hardest negatives are sought; 100 in the code.
        epochs: passes over the pairs; 25 in the code.
        least_score: pairs whose file gives a lower similarity are left out; 0.4 in the data that the authors took of
            ParaNMT. Pairs without one stay.
        most_overlap: pairs that share more of their words are left out: the words of both, by those of the shorter
            side; 0.7 in the authors' data, whose own measure is not known to us. 1: none is left out.

    Fields that are the same in both:

    Args:
        vocabulary_size: subwords, at most. They are learnt from the training texts (byte-pair encoding of lower-cased
            words and punctuation; the code has SentencePiece).
        batch_size: pairs an optimisation step, over all processes.
        learning_rate: Adam's.
    """

    removed: ClassVar[Mapping[str, object]] = {"margin": 0.4, "growth": 4, "spread": 0.1}
    """Fields that checkpoints of 0.1.0 may name, and the only value that each still has."""

    width: int = 300
    megabatch: int = 60
    epochs: int = 10
    least_score: float = 0.0
    most_overlap: float = 1.0

    vocabulary_size: int = 20_000
    batch_size: int = 128
    learning_rate: float = 1e-3

    def __post_init__(self) -> None:
        require_types(self)
        for name, least, most in (
            ("width", 1, MOST_WIDTH),
            ("megabatch", 1, 10_000),
            ("epochs", 1, 1_000_000),
            ("vocabulary_size", 1, 1_000_000),
            ("batch_size", 2, math.inf),
            ("learning_rate", 0, math.inf),
            ("least_score", -math.inf, math.inf),
            ("most_overlap", 0, 1),
        ):
            value = getattr(self, name)
            if not least <= value <= most or abs(value) == math.inf:
                raise InputError(
                    f"{name} {value}; expected {least} or more" + (f", at most {most}" * (most < math.inf))
                )

    @classmethod
    def reference(cls, **fields: Any) -> AveragedConfig:
        """As the authors' released code trains on ParaNMT; how fast its mega-batch grows is not known to us."""
        return with_fields(cls(width=1024, megabatch=100, epochs=25, least_score=0.4, most_overlap=0.7), fields)
