"""Every number and choice of the reader."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, ClassVar

from paraform.fields import MOST_WIDTH, Between, Count, Dropout, Positive, Width, require_types


@dataclass(frozen=True)
class ReaderConfig:
    """BiDAF with self-attention, as Clark and Gardner 2018 build it for one paragraph, over frozen vectors of words.

    Sizes, dropout, batch and longest answer are theirs for SQuAD (section 4.2). They train by Adadelta, keep a moving
    average of the weights, and have word vectors and a convolution over characters where ours has the encoder alone.

    Args:
        encoder: whose words are read, as `paraform.load` takes it.
        inputs: features of a word's vector; 0: as the encoder has them, which the trainer fills in.
        width: of a GRU, in one direction.
        linear: features of the layer behind each attention.
        dropout: of whole features over all words of a text, before GRUs and attention.
        learning_rate: Adam's.
        batch_size: questions a step, over all processes.
        epochs: passes over the questions.
    """

    removed: ClassVar[Mapping[str, object]] = {
        "states": "own", "most_words": 300, "longest_answer": 17, "clip_norm": 5.0,
    }  # fmt: skip
    """Fields that checkpoints of 0.1.0 may name, and the only value that each still has."""

    encoder: str = "minilm"
    inputs: Annotated[int, Between(0, MOST_WIDTH)] = 0
    width: Width = 100
    linear: Width = 200
    dropout: Dropout = 0.2
    learning_rate: Positive = 1e-3
    batch_size: Count = 45
    epochs: Count = 10

    def __post_init__(self) -> None:
        require_types(self)
