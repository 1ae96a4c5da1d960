"""clVAE's Figure 4: −ELBO and perplexity of clVAE+_MI against the encoder's dropout of features, on PTB.

    paraform reproduce clvae/dropout --scale small --data ../shared/data --out runs/clvae

Nine rows are many for one machine: at the small scale they have two epochs of 20,000 sentences, and
`--row "dropout 0.1"` takes one of them. Writes OUT/ptb/SCALE/dropout.png, of the rows that it takes. Running time and
figures: docs/results/clvae.md.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from paraform.recipes.latent_rows import BRIEF, Rows, Scale, config_of, run_rows
from paraform.weights import atomic_path

if TYPE_CHECKING:  # its import takes longer than a short answer
    from matplotlib.figure import Figure

SHARES = {f"dropout {share}": share for share in (0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9)}


def run(
    *,
    scale: Scale = "smoke",
    data: Path = Path("../shared/data"),
    out: Path = Path("runs/clvae"),
    rows: Sequence[str] = (),
    seed: int = 0,
    device: str | None = None,
) -> Rows:
    """Train rows (those begun go on; (): all), measure them, and draw the figure.

    Raises: InputError for a row that the figure has not.
    """
    size = BRIEF[scale]
    base = config_of("clvae+_mi", size)
    known = {row: replace(base, encoder_dropout=share) for row, share in SHARES.items()}
    found = run_rows(known, {}, size, "ptb", asked=rows, data=data, out=out, seed=seed, device=device)
    with atomic_path(out / "ptb" / scale / "dropout.png") as unfinished:
        figure_of(found, SHARES).savefig(unfinished, format="png", dpi=100)
    return found


def figure_of(rows: Rows, shares: Mapping[str, float]) -> Figure:
    """−ELBO and perplexity by the paper's protocol and by the honest one, of the same weights.

    Args:
        shares: of the embeddings' features that the encoder drops, by row.
    """
    from matplotlib.figure import Figure

    figure = Figure(figsize=(10, 4), layout="constrained")
    for number, (name, unit) in enumerate((("−ELBO", "nats a sentence"), ("PPL", "a word")), start=1):
        axes = figure.add_subplot(1, 2, number, xlabel="dropout of the encoder's embeddings", ylabel=f"{name}, {unit}")
        for protocol in ("paper", "honest, same weights"):
            found = [score for score in rows.scores if (score.name, score.protocol) == (name, protocol)]
            at = [shares[score.system] for score in found]
            axes.plot(at, [score.value for score in found], marker="o", label=protocol)
        axes.legend()
    return figure
