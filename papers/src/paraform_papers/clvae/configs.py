"""The rows of clVAE's tables: their configurations, and what a scale means."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any, Literal

from paraform.models.latent import OBJECTIVES, LatentConfig
from paraform_papers.tables import Scale

Corpus = Literal["ptb", "yahoo", "yelp"]


@dataclass(frozen=True)
class Size:
    """What a scale means: the first so many sentences of each split (0: all), samples a sentence, epochs.

    Args:
        scale: its name, and that of the folder of its runs.
        documents: for `train`, of Yahoo, whose texts are four times as long as PTB's.
        svi_epochs: SaVAE's epochs, each step of which takes as long as a few dozen of another row's.
        refit: whether critics are fitted anew, to the last epoch's posterior; that takes minutes.
    """

    scale: Scale
    train: int
    documents: int
    held_out: int
    samples: int
    epochs: int
    svi_epochs: int
    refit: bool


SIZES: dict[Scale, Size] = {
    "smoke": Size("smoke", 300, 300, 60, 4, 1, 1, False),
    "small": Size("small", 10_000, 5_000, 1000, 32, 5, 1, False),
    "long": Size("long", 0, 0, 0, 32, 10, 1, True),
    "full": Size("full", 0, 0, 0, 128, 40, 40, True),
}
BRIEF = SIZES | {"small": replace(SIZES["small"], train=20_000, epochs=2)}
"""Of what shares no row with Table 1: Figure 4's nine rows, and two more corpora."""
NAMES = ("−ELBO", "PPL", "KL", "MI", "AU")
NGRAM_NAMES = ("forward PPL", "reverse PPL")
FILES: dict[str, dict[str, str]] = {
    corpus: {split: f"{corpus}/{'ptb.' if corpus == 'ptb' else ''}{split}.txt" for split in ("train", "valid", "test")}
    for corpus in ("ptb", "yahoo", "yelp")
}
CONTROLS = (
    *(f"{row}-{control}" for row in ("vae", "ivae", "ivae_mi") for control in ("dropout", "two-views")),
    *("clvae+-two-views", "clvae+_mi-two-views", "vae+contrast-h"),
)
"""What tells contrast from what comes with it: the encoder's dropout, and two views that are decoded; see `config_of`.
As the slow rows they are trained where they are asked for, and taken once they are trained."""
ALONE = ("savae", "lagvae", *CONTROLS)  # runs of their own, trained where they are asked for
PTB: dict[str, Any] = {"word_width": 256, "hidden_width": 256, "vocabulary_size": 10_000}
WIDTHS = {"word_width": 16, "hidden_width": 16, "latent_width": 4, "critic_width": 16}
TINY: dict[str, Any] = {**WIDTHS, "vocabulary_size": 500}


def config_of(objective: str, size: Size, corpus: Corpus = "ptb") -> LatentConfig:
    """A row's configuration, that of the authors' script.

    "clvae-h" is clVAE with contrast on h; "vae-dropout" is VAE, one view, with the encoder's dropout of the rows with
    contrast; "vae-two-views" is VAE with that dropout and two views of a sentence, both decoded and not contrasted:
    vae+contrast with the contrast's weight at 0 (so is "ivae-two-views" of clvae, "ivae_mi-two-views" of clvae_mi).

    Below the full scale Yahoo's and Yelp's networks, which need about ten times as many operations a word, are of
    PTB's size.
    """
    config = replace(
        LatentConfig.reference(corpus), **{"smoke": TINY, "small": PTB, "long": PTB, "full": {}}[size.scale]
    )
    name, _, part = objective.partition("-") if objective not in OBJECTIVES else (objective, "", "")
    config = config.with_objective(name)
    if part == "h":
        config = replace(config, contrast="h")
    elif part == "dropout":
        config = replace(config, plain_dropout=config.encoder_dropout)
    elif part == "two-views":
        config = config.with_two_views()
    if objective == "beta-vae" and corpus != "ptb":
        config = replace(config, beta=0.4)  # as in Table 2
    return replace(config, epochs=size.svi_epochs if config.inner == "svi" else size.epochs)


def configs_of(rows: Iterable[str], size: Size, corpus: Corpus = "ptb") -> dict[str, LatentConfig]:
    """Configurations by row, as `config_of` has them."""
    return {row: config_of(row, size, corpus) for row in rows}
