"""The rows of ParaBART's tables: which start, which parts, and what a scale means."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Literal

from paraform.models.disentangled import DisentangledConfig
from paraform.records import InputError
from paraform_papers.rivals.averaged import AveragedConfig
from paraform_papers.rivals.infersent import InferSentConfig
from paraform_papers.rivals.vgvae import VgvaeConfig
from paraform_papers.tables import Scale

LM: dict[str, Any] = {
    "encoder": "smollm2", "adapters": 16, "pool_special": False, "learning_rate": 3e-4, "decoder_learning_rate": 1e-3,
    "batch_size": 32, "fooled": "loss", "adversary_weight": 0.1, "adversary_learning_rate": 0.0,
}  # fmt: skip
STARTS: dict[str, dict[str, Any]] = {
    "minilm": {"learning_rate": 3e-5},
    "minilm3": {"layers": 3, "learning_rate": 3e-4, "decoder_learning_rate": 1e-3, "batch_size": 32},
    "mpnet": {"encoder": "sentence-transformers/all-mpnet-base-v2", "learning_rate": 3e-5},
    "bart": {"encoder": "facebook/bart-base"},
    "smollm2": LM,
    "smollm2-open": {**LM, "both_ways": True},
    "smollm2-1000": LM,
    "smollm2-500": LM,
}
"""What is trained: the offline encoder, or its first three layers, mean-pooled, which are full of form, as the mean of
an untrained BART is (docs/results/encoders.md). The rates are those below the full scale: what knows much is moved
little, and what knows little learns by more and smaller steps. `mpnet`, a stronger encoder, is to be had by that name
(a folder of it, where nothing is downloaded). `bart` is the paper's own, of the scale full alone.
`smollm2` is a language model with adapters, and the paper's loss and weight of the adversary; `-open` with the mask
open both ways; `-1000` and `-500` of fewer pairs (`EACH`)."""
EACH = {"smollm2": 2_000, "smollm2-open": 2_000, "smollm2-1000": 1_000, "smollm2-500": 500}
"""Starts that are trained on fewer pairs of each corpus."""
OF_THEMSELVES = ("minilm", "minilm3", "bart")  # starts whose rows a table has if none is asked for

CONTRAST: dict[str, Any] = {"contrast_weight": 1.0, "generation_weight": 0.0, "adversary_weight": 0.0}
OF_PARTS = ("adversary_weight", "generation_weight", "contrast_weight", "distance_weight", "role_negatives", "erased")
DEFAULT = {name: getattr(DisentangledConfig.compact(), name) for name in OF_PARTS}
PARTS: dict[str, dict[str, Any]] = {
    # Tables 1, 2, 4 and 5
    "full": {},
    "without adversary": {"adversary_weight": 0.0},
    "without both": {"adversary_weight": 0.0, "syntax": False},  # adversary and syntax
    "without word dropout": {"word_dropout": 0.0},
    # the adversary as the paper has it: its loss without a bound, its weight, and the encoder's rate
    "fooled by loss": {"fooled": "loss", "adversary_weight": 0.1, "adversary_learning_rate": 0.0},
    # beyond the paper
    "contrast": CONTRAST,
    "contrast, roles": {**CONTRAST, "role_negatives": 1},
    "contrast, forms": {**CONTRAST, "form_negatives": 1},
    "full, contrast": {"contrast_weight": 0.5},
    "full, distance": {"distance_weight": 1000.0},
    "default": DEFAULT,
    "default, generation": {**DEFAULT, "generation_weight": 0.1},
    "default, distance 2000": {**DEFAULT, "distance_weight": 2000.0},
    "default, free": DEFAULT,
}
FREE = {"tatoeba": 0, "paranmt": 0}
"""The corpora of a row whose name ends in "free", all of each: their terms let anybody use what is trained on them."""

ERASED: dict[str, tuple[str, Literal["constituents", "form"]]] = {
    "erased alone": ("", "form"),
    "constituents erased alone": ("", "constituents"),
    "full, erased": ("full", "form"),
}
"""Rows that are not trained: of what a linear map erases what; of another row, or (nothing) of the start, which is to
be an encoder."""

RIVALS: dict[str, AveragedConfig | InferSentConfig | VgvaeConfig] = {
    "sp-average": AveragedConfig(epochs=3),
    "infersent": InferSentConfig(hidden_width=256, epochs=6),
    "vgvae": VgvaeConfig.compact("averages", epochs=3, discriminative_start=1),
}
"""Rows of other systems, below the full scale; each is measured beside itself without training (`UNTRAINED`).

sp-average and VGVAE are trained on all of Quora's pairs, InferSent on SICK's labels, for want of SNLI:
`rival_encoders`."""
UNTRAINED = "untrained"

CAME = "as it comes"
COMPARED = (
    ("full", "without adversary"),
    ("without adversary", "without both"),
    ("full", CAME),
    ("full", "without both"),
    ("full", "without word dropout"),
    ("without both", CAME),
    ("full, erased", "full"),
    ("full, erased", CAME),
    ("full, contrast", "full"),
    ("full, distance", "full"),
    ("contrast", CAME),
    ("contrast, roles", "contrast"),
    ("contrast, forms", "contrast"),
    ("default", "contrast"),
    ("default", CAME),
    ("default, distance 2000", "default"),
    ("default, free", "default"),
    ("default, free", CAME),
    ("erased alone", CAME),
)
"""Rows of one start and seed whose difference is given, with its interval; their batches are the same."""
PAPER = ("full", "without adversary", "without both")
"""The paper's own rows."""


@dataclass(frozen=True)
class Size:
    """What a scale means.

    Args:
        pairs: of each corpus, at most so many; 0: all.
        config: of the row "full".
        evaluate_every: steps between two validations, which choose.
        size: paraphrases of a set of robustness, at most.
        most: rows of each part of an evaluation set; None: all.
    """

    pairs: dict[str, int]
    config: DisentangledConfig
    evaluate_every: int
    size: int
    most: int | None = None
    resamples: int = 1000


SIZES: dict[Scale, Size] = {
    "smoke": Size(
        {"quora": 60, "tatoeba": 60}, replace(DisentangledConfig.compact_paper(), epochs=1, batch_size=16), 1000, 20,
        most=40, resamples=20,
    ),
    "small": Size(
        {"quora": 5_000, "tatoeba": 5_000, "paranmt": 5_000, "multi30k": 5_000},
        replace(DisentangledConfig.compact_paper(), epochs=1), 1000, 300,
    ),
    "long": Size(
        {"quora": 16_000, "tatoeba": 0, "paranmt": 0, "multi30k": 16_000}, DisentangledConfig.compact_paper(), 350, 300
    ),
    "full": Size({"paranmt": 0}, DisentangledConfig.paper(), 5000, 1000),
}  # fmt: skip
ROWS = (
    *(
        f"{start} {part}"
        for start in STARTS
        for part in (*PARTS, *ERASED)
        if start not in EACH or (part not in ERASED and part != "fooled by loss")  # which their "full" is
    ),
    *RIVALS,
)


def config_of(row: str, scale: Scale) -> DisentangledConfig | AveragedConfig | InferSentConfig | VgvaeConfig | None:
    """A row's configuration at a scale; None: it is not trained (`ERASED`).

    Raises: InputError for no row, or one that this scale does not have.
    """
    if row in RIVALS and scale != "full":
        rival = RIVALS[row]
        return replace(rival, epochs=1, batch_size=8) if scale == "smoke" else rival
    start, _, part = row.partition(" ")
    if row not in ROWS:
        raise InputError(f"no row {row!r}; expected some of {', '.join(ROWS)}")
    paper = start == "bart"
    if paper != (scale == "full") or (paper and part not in PAPER):
        raise InputError(f"row {row!r} at scale {scale}; expected such as {', '.join(rows_of(scale))}")
    return None if part in ERASED else replace(SIZES[scale].config, **{**STARTS[start], **PARTS[part]})


def name_of(start: str) -> str:
    """The encoder that a start names, as it comes."""
    fields = STARTS[start]
    return f"{fields.get('encoder', 'minilm')}{'@layer={}'.format(fields['layers']) if 'layers' in fields else ''}"


def corpora_of(row: str, scale: Scale) -> dict[str, int]:
    """The corpora that a row is trained on, and of each at most so many pairs; 0: all."""
    sizes, most = FREE if row.endswith("free") else SIZES[scale].pairs, EACH.get(row.partition(" ")[0])
    return sizes if most is None else {corpus: min(size or most, most) for corpus, size in sizes.items()}


def rows_of(scale: Scale) -> tuple[str, ...]:
    """The paper's own rows, from each start that the scale has."""
    starts = (start for start in OF_THEMSELVES if (start == "bart") == (scale == "full"))
    return tuple(f"{start} {part}" for start in starts for part in PAPER)
