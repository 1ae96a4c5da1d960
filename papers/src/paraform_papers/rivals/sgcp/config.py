"""Every number and choice of SGCP, and where the paper, the authors' code and we disagree."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, Literal

from paraform.fields import MOST_STEPS, MOST_WIDTH, require_between, require_types, with_fields
from paraform.records import InputError
from paraform_papers.rivals.sgcp.heights import LOWEST, Choice


@dataclass(frozen=True)
class SgcpConfig:
    """SGCP (Kumar et al. 2020); the defaults are what we recommend at the paper's size.

    Fields on which paper and code disagree, or which one of them has alone (docs/systems/sgcp.md):

    Args:
        mask_padding: [1] the loss covers a target's units and its end; else (code) as many places as are ever written,
            the end in each behind it.
        height_draw: [2] the height that a target's tree is cut at is drawn for each "pair" (paper), or once an "epoch"
            for all (code).
        double_updates: [3] the embedding is in two optimisers, so that each step moves it twice (code).
        smoothing: [4] ln p is normalised again as ln (p + this); 0: it is not; 1e-5 in the code.
        gate: [5] what the sigmoid that says "write, do not copy" is taken of: a "linear" map (what the paper cites),
            or its "gelu" (code), with which at most 0.55 of the probability is copied.

    Fields they agree on:

    Args:
        height: the exemplar's tree is read whole, "full" (the authors' SGCP-F), or at each of up to five heights, of
            whose outputs the one nearest the source by ROUGE-1 is kept, "best" (SGCP-R).
        least_height, most_height: what is drawn from in training, in levels with ROOT's; trees have no more than
            theirs.
        units: "pieces" of words (the paper's are BPE; the offline encoder's WordPieces stand in), or "words".
        max_tokens: longer sentences are cut there, in words, and so are trees.
        min_count: units seen less often are unknown; they can be copied.
        most_units: the most that are known, the commonest; 0: all.
        word_width: the one embedding of units and of labels, in features.
        width: every state, of encoder, tree and decoder.
        layers: of the encoder's GRU and of the decoder's.
        teacher_forcing: share of the batches in which the decoder reads the target; in the others, its own units.
        pop_weight: of the loss of when a leaf is popped, in nats a unit.
        both_directions: each pair is trained on from target to source too.
        dropout: on embeddings, between layers and before the output layer.
        learning_rate: Adam's.
        clip_norm: largest gradient norm of encoder, tree and decoder each; 0: not clipped.
        batch_size: pairs a step, over all processes.
        epochs: passes over the pairs, in both directions.
        length_penalty: a beam's hypotheses are ranked by log p / length^this.

    Beyond the paper:

    Args:
        parser: what parses pairs and exemplars; a name that `load_parser` knows. It is the same in training and after:
            labels and habits of another are another language.
        schedule: of the learning rate: "constant" (code), or "linear", decay to 0 after a short warm-up.
        ration: no word is written twice running, or more often than the source has it (`decoding.rationed`).
    """

    mask_padding: bool = True
    height_draw: Literal["pair", "epoch"] = "pair"
    double_updates: bool = False
    smoothing: float = 0.0
    gate: Literal["linear", "gelu"] = "linear"

    height: Choice = "full"
    least_height: int = 3
    most_height: int = 7
    units: Literal["pieces", "words"] = "pieces"
    max_tokens: int = 30
    min_count: int = 1
    most_units: int = 50_000
    word_width: int = 300
    width: int = 512
    layers: int = 3
    teacher_forcing: float = 0.9
    pop_weight: float = 1.0
    both_directions: bool = True
    dropout: float = 0.2
    learning_rate: float = 7e-5
    clip_norm: float = 2.0
    batch_size: int = 32
    epochs: int = 50
    length_penalty: float = 1.0

    parser: str = "syntax-all"
    schedule: Literal["constant", "linear"] = "constant"
    ration: bool = False

    def __post_init__(self) -> None:
        require_types(self)
        bounds: dict[str, tuple[float, float]] = {
            "smoothing": (0, 1),
            "least_height": (LOWEST, MOST_STEPS),
            "most_height": (LOWEST, MOST_STEPS),
            "max_tokens": (2, MOST_STEPS),
            "min_count": (0, math.inf),
            "most_units": (0, math.inf),
            "word_width": (1, MOST_WIDTH),
            "width": (1, MOST_WIDTH),
            "layers": (1, 100),
            "teacher_forcing": (0, 1),
            "pop_weight": (0, math.inf),
            "dropout": (0, 0.99),
            "learning_rate": (0, math.inf),
            "clip_norm": (0, math.inf),
            "batch_size": (1, math.inf),
            "epochs": (1, math.inf),
            "length_penalty": (0, 10),
        }
        require_between(self, bounds)
        if self.least_height > self.most_height:
            raise InputError(
                f"least_height {self.least_height} above most_height {self.most_height}; expected at most that"
            )

    @property
    def most_written(self) -> int:
        """The most words or pieces that are written of a sentence; 60 in the code."""
        return self.max_tokens * (2 if self.units == "pieces" else 1)

    @classmethod
    def paper(cls, **fields: Any) -> SgcpConfig:
        """As the paper describes it, as far as we know it (its figures of sizes are the code's)."""
        return with_fields(cls(), fields)

    @classmethod
    def reference(cls, **fields: Any) -> SgcpConfig:
        """As the authors' released code behaves."""
        preset = cls(mask_padding=False, height_draw="epoch", double_updates=True, smoothing=1e-5, gate="gelu")
        return with_fields(preset, fields)

    @classmethod
    def compact(cls, **fields: Any) -> SgcpConfig:
        """What trains on two cores: words, one layer of half the width, a higher rate; words are rationed."""
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
            ration=True,
        )
        return with_fields(preset, fields)
