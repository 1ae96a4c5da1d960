"""Every number and choice of SGCP."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

from paraform.fields import Amount, Count, Depth, Dropout, Whole, Width, Words, require_types, with_fields
from paraform.syntax.heights import Choice


@dataclass(frozen=True)
class SgcpConfig:
    """SGCP (Kumar et al. 2020); the defaults are what we recommend at the paper's size.

    Where paper and code disagree: docs/systems/sgcp.md.

    Args:
        height: the exemplar's tree is read whole, "full" (the authors' SGCP-F), or at each of up to five heights, of
            whose outputs the one nearest the source by ROUGE-1 is kept, "best" (SGCP-R).
        units: "pieces" of words (the paper's are BPE; the offline encoder's WordPieces stand in), or "words".
        max_tokens: longer sentences are cut there, in words, and so are trees.
        min_count: units seen less often are unknown; they can be copied.
        most_units: the most that are known, the commonest; 0: all.
        word_width: the one embedding of units and of labels, in features.
        width: every state, of encoder, tree and decoder.
        layers: of the encoder's GRU and of the decoder's.
        dropout: on embeddings, between layers and before the output layer.
        learning_rate: Adam's.
        batch_size: pairs a step, over all processes.
        epochs: passes over the pairs, in both directions.

    Beyond the paper:

    Args:
        parser: what parses pairs and exemplars; a name that `load_parser` knows. It is the same in training and after:
            labels and habits of another are another language.
        schedule: of the learning rate: "constant" (code), or "linear", decay to 0 after a short warm-up.
        constrain_repetition: no word is written twice running, or more often than the source has it.
    """

    removed: ClassVar[Mapping[str, object]] = {
        "mask_padding": True, "height_draw": "pair", "double_updates": False, "smoothing": 0.0, "gate": "linear",
        "least_height": 3, "most_height": 7, "teacher_forcing": 0.9, "pop_weight": 1.0, "both_directions": True,
        "clip_norm": 2.0, "length_penalty": 1.0,
    }  # fmt: skip
    """Fields that checkpoints of 0.1.0 may name, and the only value that each still has."""
    renamed: ClassVar[Mapping[str, str]] = {"ration": "constrain_repetition"}

    height: Choice = "full"
    units: Literal["pieces", "words"] = "pieces"
    max_tokens: Words = 30
    min_count: Whole = 1
    most_units: Whole = 50_000
    word_width: Width = 300
    width: Width = 512
    layers: Depth = 3
    dropout: Dropout = 0.2
    learning_rate: Amount = 7e-5
    batch_size: Count = 32
    epochs: Count = 50

    parser: str = "syntax-all"
    schedule: Literal["constant", "linear"] = "constant"
    constrain_repetition: bool = False

    def __post_init__(self) -> None:
        require_types(self)

    @property
    def most_written(self) -> int:
        """The most words or pieces that are written of a sentence; 60 in the code."""
        return self.max_tokens * (2 if self.units == "pieces" else 1)

    @classmethod
    def paper(cls, **fields: Any) -> SgcpConfig:
        """As the paper describes it, as far as we know it (its figures of sizes are the code's)."""
        return with_fields(cls(), fields)

    @classmethod
    def compact(cls, **fields: Any) -> SgcpConfig:
        """What trains on two cores: words, one layer of half the width, a higher rate; repetition is constrained."""
        preset = cls(
            units="words",
            min_count=2,
            most_units=8000,
            word_width=256,
            width=256,
            layers=1,
            learning_rate=1e-3,
            epochs=4,
            schedule="linear",
            constrain_repetition=True,
        )
        return with_fields(preset, fields)
