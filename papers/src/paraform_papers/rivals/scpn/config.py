"""Every number and choice of SCPN."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

from paraform.fields import Amount, Count, Dropout, Whole, Width, Words, require_types, with_fields


@dataclass(frozen=True)
class ScpnConfig:
    """SCPN (Iyyer et al. 2018); the defaults are what we recommend at the paper's size.

    Where paper and code disagree: docs/systems/scpn.md.

    Args:
        schedule: of the learning rate: "constant" (paper), or "linear", ours: decay to 0 after a short warm-up.
        units: "pieces" of words (the paper's are BPE; the offline encoder's WordPieces stand in), or "words".
        max_tokens: longer sentences are cut there, in words.
        min_count: units seen less often are unknown; they can be copied.
        most_units: the most that are known, the commonest; 0: all.
        word_width, label_width: embeddings of the paraphraser's units and of a parse's labels, in features.
        encoder_width: one direction of the LSTM over the source.
        decoder_width, decoder_layers: the decoder's LSTM.
        generator_label_width, generator_width: of the parse generator, the embeddings and every LSTM.
        learning_rate: Adam's.
        batch_size: pairs a step, over all processes.
        epochs: passes over the pairs.

    Beyond the paper:

    Args:
        parser: what parses pairs, sources and exemplars; a name that `load_parser` knows. It is the same in training
            and after: labels and habits of another are another language.
        brackets: parses are written with both brackets as symbols of their own around each label (paper); else a
            constituent's label opens it and a tag stands alone, which takes less than half as many symbols.
        constrain_repetition: no word is written twice running, or more often than the source has it.
        dropout: on embeddings and before the output layers.
    """

    removed: ClassVar[Mapping[str, object]] = {
        "copy_mixture": "probabilities", "input_parse": True, "min_tokens": 0, "max_symbols": 150, "parse_width": 128,
        "template_levels": 2, "swap_directions": True, "drop_same_parse": True, "clip_norm": 5.0,
        "length_penalty": 1.0, "exemplar_form": "template",
    }  # fmt: skip
    """Fields that checkpoints of 0.1.0 may name, and the only value that each still has."""
    renamed: ClassVar[Mapping[str, str]] = {"ration": "constrain_repetition"}

    schedule: Literal["constant", "linear"] = "constant"
    units: Literal["pieces", "words"] = "pieces"
    max_tokens: Words = 40
    min_count: Whole = 1
    most_units: Whole = 0
    word_width: Width = 300
    label_width: Width = 56
    encoder_width: Width = 512
    decoder_width: Width = 512
    decoder_layers: Literal[1, 2] = 2
    generator_label_width: Width = 128
    generator_width: Width = 512
    learning_rate: Amount = 5e-5
    batch_size: Count = 64
    epochs: Count = 15

    parser: str = "syntax-all"
    brackets: bool = True
    constrain_repetition: bool = False
    dropout: Dropout = 0.0

    def __post_init__(self) -> None:
        require_types(self)

    @property
    def most_written(self) -> int:
        """The most words or pieces that are written of a sentence."""
        return self.max_tokens * (2 if self.units == "pieces" else 1)

    @classmethod
    def paper(cls, **fields: Any) -> ScpnConfig:
        """As the paper describes it, as far as we know it (its figures of sizes are the code's)."""
        return with_fields(cls(), fields)

    @classmethod
    def compact(cls, **fields: Any) -> ScpnConfig:
        """What trains on two cores: words, half the widths, short parses, a higher rate; repetition is constrained."""
        preset = cls(
            schedule="linear",
            units="words",
            max_tokens=30,
            min_count=2,
            most_units=8000,
            word_width=256,
            label_width=32,
            encoder_width=256,
            decoder_width=256,
            decoder_layers=1,
            generator_label_width=32,
            generator_width=256,
            learning_rate=1e-3,
            epochs=4,
            brackets=False,
            constrain_repetition=True,
            dropout=0.2,
        )
        return with_fields(preset, fields)
