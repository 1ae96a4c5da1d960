"""Every number and choice of the reader."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

from paraform.fields import MOST_WIDTH, require_types
from paraform.records import InputError

States = Literal["own", "all", "mean"]


@dataclass(frozen=True)
class ReaderConfig:
    """BiDAF with self-attention, as Clark and Gardner 2018 build it for one paragraph, over frozen vectors of words.

    Sizes, dropout, batch and longest answer are theirs for SQuAD (section 4.2). They train by Adadelta, keep a moving
    average of the weights, and have word vectors and a convolution over characters where ours has the encoder alone.

    Args:
        encoder: whose words are read, as `paraform.load` takes it.
        states: of its "own" layer, of "all" layers side by side (the paper's ELMo has three), or their "mean".
        inputs: features of a word's vector; 0: as the encoder has them, which the trainer fills in.
        width: of a GRU, in one direction.
        linear: features of the layer behind each attention.
        dropout: of whole features over all words of a text, before GRUs and attention.
        learning_rate: Adam's.
        batch_size: questions a step, over all processes.
        epochs: passes over the questions.
        most_words: a longer context is not trained on.
        longest_answer: words of an answer, at most.
        clip_norm: the gradient's, at most; 0: not clipped.
    """

    encoder: str = "minilm"
    states: States = "own"
    inputs: int = 0
    width: int = 100
    linear: int = 200
    dropout: float = 0.2
    learning_rate: float = 1e-3
    batch_size: int = 45
    epochs: int = 10
    most_words: int = 300
    longest_answer: int = 17
    clip_norm: float = 5.0

    def __post_init__(self) -> None:
        require_types(self)
        for name, least, most in (
            ("inputs", 0, MOST_WIDTH),
            ("width", 1, MOST_WIDTH),
            ("linear", 1, MOST_WIDTH),
            ("batch_size", 1, math.inf),
            ("epochs", 1, math.inf),
            ("most_words", 1, math.inf),
            ("longest_answer", 1, MOST_WIDTH),
            ("clip_norm", 0, math.inf),
        ):
            value = getattr(self, name)
            if not least <= value <= most or value == math.inf:
                above = f"{least} or more" if most == math.inf else f"{least} to {most:,}"
                raise InputError(f"{name} {value}; expected {above}")
        if not 0 <= self.dropout < 1:
            raise InputError(f"dropout {self.dropout}; expected 0 or more, below 1")
        if not 0 < self.learning_rate < math.inf:
            raise InputError(f"learning_rate {self.learning_rate}; expected a number above 0")
