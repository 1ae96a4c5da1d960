"""Every number and choice of a seq2seq that is told a form."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any, ClassVar, Literal

from paraform.fields import MOST_STEPS, Amount, Between, Count, Whole, require_types, with_fields
from paraform.records import InputError
from paraform.syntax.heights import LOWEST
from paraform.syntax.trees import MAX_DEPTH


@dataclass(frozen=True)
class Seq2SeqConfig:
    """AESOP's setting (Sun, Ma and Peng 2021) of any seq2seq model; the defaults are what we recommend with a GPU.

    Where AESOP's paper and its code disagree: docs/systems/seq2seq.md.

    Args:
        written_tree: what is written before the paraphrase: the target's "whole" tree (paper), or the tree "cut" as it
            is read.
        source_tree: what is read of the source's own tree: its "labels" (paper), or "none".
        height: levels of the form's tree, with ROOT's own; trees have no more than theirs. AESOP's h4 is 5 of them.
        max_pieces: the most pieces of an input, marks counted; of a longer one the source's tree is cut first.
        max_written: the most pieces of an output, marks counted; in training the tree is cut first.
        learning_rate: AdamW's, at its highest.
        warmup: steps in which it rises to that, at most half of all; then it falls in a straight line to 0.
        batch_size: pairs a step, over all processes.
        accumulation: parts that a process computes its pairs of a step in, one after another: less memory, the same
            step.
        epochs: passes over the pairs.

    Beyond the paper:

    Args:
        parser: what parses pairs, sources and exemplars; a name that `load_parser` knows. It is the same in training
            and after: labels and habits of another are another language.
    """

    removed: ClassVar[Mapping[str, object]] = {
        "validate_on": "paraphrase", "weight_decay": 0.0, "clip_norm": 1.0, "length_penalty": 1.0,
    }  # fmt: skip
    """Fields that checkpoints of 0.1.0 may name, and the only value that each still has."""

    written_tree: Literal["whole", "cut"] = "whole"
    source_tree: Literal["labels", "none"] = "labels"

    height: Annotated[int, Between(LOWEST, MAX_DEPTH)] = 5
    max_pieces: Annotated[int, Between(8, MOST_STEPS)] = 512
    max_written: Annotated[int, Between(8, MOST_STEPS)] = 128
    learning_rate: Amount = 3e-5
    warmup: Whole = 500
    batch_size: Count = 256
    accumulation: Count = 32
    epochs: Count = 25

    parser: str = "syntax-all"

    def __post_init__(self) -> None:
        require_types(self)
        if self.accumulation > self.batch_size:
            raise InputError(
                f"accumulation {self.accumulation} above batch_size {self.batch_size}; expected at most that"
            )

    @classmethod
    def paper(cls, **fields: Any) -> Seq2SeqConfig:
        """As the paper describes it, as far as we know it (its figures of steps and lengths are the code's)."""
        return with_fields(cls(), fields)

    @classmethod
    def compact(cls, **fields: Any) -> Seq2SeqConfig:
        """What a small model trains by on two cores: short inputs and outputs, small batches, a higher rate."""
        preset = cls(
            written_tree="cut",
            source_tree="none",
            max_pieces=128,
            max_written=96,
            learning_rate=1e-4,
            warmup=100,
            batch_size=32,
            accumulation=1,
            epochs=4,
        )
        return with_fields(preset, fields)
