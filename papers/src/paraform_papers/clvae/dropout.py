"""clVAE's Figure 4: −ELBO and perplexity of clVAE+_MI against the encoder's dropout of features, on PTB.

    paraform reproduce clvae/dropout --scale small --data ../shared/data --out runs/clvae

Nine rows are many for one machine: at the small scale they have two epochs of 20,000 sentences, and
`--row "dropout 0.1"` takes one of them. Writes OUT/ptb/SCALE/dropout.png, of the rows that it takes. Running time and
figures: docs/results/clvae.md.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from paraform.evaluation.pictures import save_plot
from paraform.models.latent import LatentConfig
from paraform.score import Score
from paraform_papers.clvae.configs import BRIEF, Corpus, Size, config_of
from paraform_papers.clvae.latent_rows import latent_table
from paraform_papers.tables import Asked

if TYPE_CHECKING:  # its import takes longer than a short answer
    from matplotlib.figure import Figure

SHARES = {f"dropout {share}": share for share in (0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9)}


def configs(size: Size, corpus: Corpus) -> dict[str, LatentConfig]:
    """By row."""
    base = config_of("clvae+_mi", size, corpus)
    return {row: replace(base, encoder_dropout=share) for row, share in SHARES.items()}


def draw(scores: Sequence[Score], asked: Asked) -> None:
    """Draw the rows that were taken."""
    save_plot(figure_of(scores, SHARES), asked.place / "dropout.png")


def figure_of(scores: Sequence[Score], shares: Mapping[str, float]) -> Figure:
    """−ELBO and perplexity by the paper's protocol and by the honest one, of the same weights.

    Args:
        shares: the share of the embeddings' features that the encoder drops, by row.
    """
    from matplotlib.figure import Figure

    figure = Figure(figsize=(10, 4), layout="constrained")
    for number, (name, unit) in enumerate((("−ELBO", "nats a sentence"), ("PPL", "a word")), start=1):
        axes = figure.add_subplot(1, 2, number, xlabel="dropout of the encoder's embeddings", ylabel=f"{name}, {unit}")
        for protocol in ("paper", "honest, same weights"):
            found = [score for score in scores if (score.name, score.protocol) == (name, protocol)]
            at = [shares[score.system] for score in found]
            axes.plot(at, [score.value for score in found], marker="o", label=protocol)
        axes.legend()
    return figure


TABLE = latent_table("clvae/dropout", "clVAE's Figure 4: dropout", configs, {}, sizes=BRIEF, draw=draw)
