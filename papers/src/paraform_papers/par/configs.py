"""The rows of PAR's tables: a start, a corpus and a variant each, and what a scale means."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Literal, TypeAlias

from paraform.models.disentangled import DisentangledConfig
from paraform.models.retrofit import RetrofitConfig
from paraform.records import InputError
from paraform_papers.parabart.configs import CONTRAST
from paraform_papers.tables import Scale

Config: TypeAlias = RetrofitConfig | DisentangledConfig
Corpus = Literal["mrpc", "pan", "quora"]

CORPORA: dict[str, tuple[Corpus, ...]] = {
    "mrpc": ("mrpc",),
    "pan": ("pan",),
    "quora": ("quora",),
    "union": ("mrpc", "pan", "quora"),
}
BEHIND = {"place": "after", "states": "last"}
STARTS: dict[str, dict[str, Any]] = {
    "": {},  # the scale's encoder, M before it
    "smollm2": {"encoder": "smollm2", **BEHIND},
    "smollm2 layer 15": {"encoder": "smollm2@layer=15", **BEHIND},
    "smollm2 mean": {"encoder": "smollm2", **BEHIND, "states": "all"},
    # one pass: each step goes through all of it and back
    "smollm2 before": {"encoder": "smollm2", "states": "last", "place": "before", "epochs": 1},
}
"""What is retrofitted and where M stands, whatever the variant says."""
AS_PUBLISHED = ("paper", "paper, adam", "paper, adam, same rate")  # variants that start from the paper's setting
AFTER = {"place": "after", "orthogonality": "free"}
VARIANTS: dict[str, dict[str, Any]] = {
    "default": {},
    "paper": {},
    "reference": {},
    # the paper's setting, but by Adam, with the code's rate or with the paper's
    "paper, adam": {"optimiser": "adam", "learning_rate": RetrofitConfig.reference().learning_rate},
    "paper, adam, same rate": {"optimiser": "adam"},
    # beyond the paper
    "further": {"push": "further"},
    "exact": {"orthogonality": "exact"},
    "free": {"orthogonality": "free"},
    "further, exact": {"push": "further", "orthogonality": "exact"},
    "further, free": {"push": "further", "orthogonality": "free"},
    "free after": AFTER,
    "whitening": {**AFTER, "fit": "whitening"},
    "contrast": {},  # what `train disentangled` makes of the same paraphrases: all but the embeddings is trained
}
BEFORE_ALONE = ("reference", "contrast", "free after", "whitening")  # variants of the scale's encoder alone
ROTATIONS = ("exact", "further, exact")  # which change no distance behind an encoder
ROWS: dict[str, tuple[str, str, str]] = {
    f"{start} {corpus} {variant}".strip(): (start, corpus, variant)
    for start in STARTS
    for corpus in CORPORA
    for variant in VARIANTS
    if not start or not (variant in BEFORE_ALONE or (STARTS[start]["place"] == "after" and variant in ROTATIONS))
}


@dataclass(frozen=True)
class Size:
    """What a scale means; "long" trains as long as "full", and measures as "small".

    Args:
        pairs: of each corpus, at most so many; 0: all. The paper samples 20,000 of Quora.
        union: the same of each corpus of the union.
        epochs: at most; None: the row's own.
        evaluate_every: steps between two validations.
        most: rows of each part of an evaluation set; None: all.
        measured: pairs of each kind whose shared words are measured; 0: all.
        encoder: what is retrofitted.
        fields: further ones of every row's config that has them.
    """

    pairs: dict[Corpus, int]
    union: dict[Corpus, int]
    epochs: int | None
    evaluate_every: int
    most: int | None = None
    measured: int = 0
    resamples: int = 1000
    encoder: str = "minilm"
    fields: tuple[tuple[str, Any], ...] = ()


PUBLISHED: dict[Corpus, int] = {"mrpc": 0, "pan": 0, "quora": 20_000}
SIZES: dict[Scale, Size] = {
    "smoke": Size(
        dict.fromkeys(PUBLISHED, 160), dict.fromkeys(PUBLISHED, 60), epochs=1, evaluate_every=1000, most=20,
        measured=20, resamples=20, fields=(("batch_size", 8), ("classifier_pairs", 40)),
    ),
    "small": Size(
        {"mrpc": 2_400, "pan": 1_600, "quora": 3_200}, {"mrpc": 800, "pan": 600, "quora": 1_000}, epochs=2,
        evaluate_every=25, most=500, measured=500, fields=(("classifier_pairs", 600),),
    ),
    "long": Size(
        PUBLISHED, PUBLISHED, epochs=None, evaluate_every=100, most=500, measured=500,
        fields=(("classifier_pairs", 600),),
    ),
    "full": Size(PUBLISHED, PUBLISHED, epochs=None, evaluate_every=100),
}  # fmt: skip


def config_of(row: str, scale: Scale) -> Config:
    """A row's configuration at a scale. Raises: InputError for no row."""
    if row not in ROWS:
        raise InputError(f"no row {row!r}; expected some of {', '.join(ROWS)}")
    start, corpus, variant = ROWS[row]
    size, own = SIZES[scale], VARIANTS[variant]
    config: Config
    if variant == "contrast":
        config = replace(DisentangledConfig.compact_paper(), **CONTRAST, learning_rate=3e-5)
    elif variant in AS_PUBLISHED:
        # the paper does not say which margin and epochs its union had: Quora is most of it
        config = replace(RetrofitConfig.paper("quora" if corpus == "union" else CORPORA[corpus][0]), **own)
    else:
        config = RetrofitConfig.reference() if variant == "reference" else replace(RetrofitConfig(), **own)
    fields = {name: value for name, value in size.fields if hasattr(config, name)}
    epochs = config.epochs if size.epochs is None else min(config.epochs, size.epochs)
    return replace(config, **{"encoder": size.encoder, "epochs": epochs, **fields, **STARTS[start]})


def trained_on(row: str) -> tuple[Corpus, ...]:
    """The corpora of a row."""
    return CORPORA[ROWS[row][1]]


def pairs_of_row(row: str, scale: Scale) -> dict[Corpus, int]:
    """The corpora that a row is trained on, and of each at most so many pairs; 0: all."""
    sizes = SIZES[scale].union if len(trained_on(row)) > 1 else SIZES[scale].pairs
    return {corpus: sizes[corpus] for corpus in trained_on(row)}


def rows_of(scale: Scale) -> tuple[str, ...]:
    """The paper's own four, by our default and as the paper says."""
    return tuple(f"{corpus} {variant}" for corpus in CORPORA for variant in ("default", "paper"))
