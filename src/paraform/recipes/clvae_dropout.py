"""clVAE's Figure 4: −ELBO and perplexity of clVAE+_MI against the encoder's dropout, on PTB.

    paraform reproduce clvae/dropout --scale small --data ../shared/data --out runs/clvae

Writes OUT/ptb/SCALE/dropout.png. Running time and figures: docs/results/clvae.md.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from paraform.recipes.latent_rows import Rows, Scale, config_of, run_rows
from paraform.weights import atomic_path

SHARES = (0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9)


def run(
    *,
    scale: Scale = "smoke",
    data: Path = Path("../shared/data"),
    out: Path = Path("runs/clvae"),
    seed: int = 0,
    device: str | None = None,
) -> Rows:
    """Train the rows (those begun go on), measure them, and draw the figure."""
    base = config_of("clvae+_mi", scale)
    configs = {f"dropout {share}": replace(base, encoder_dropout=share) for share in SHARES}
    rows = run_rows(configs, {}, scale, "ptb", data=data, out=out, seed=seed, device=device)
    draw(rows, out / "ptb" / scale / "dropout.png")
    return rows


def draw(rows: Rows, path: Path) -> None:
    """−ELBO by the paper's protocol and by the honest one, of the same weights."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(6, 4), layout="constrained")
    axes = figure.add_subplot(xlabel="dropout of the encoder", ylabel="−ELBO, nats a sentence")
    for protocol in ("paper", "honest, same weights"):
        found = [score for score in rows.scores if score.name == "−ELBO" and score.protocol == protocol]
        shares = [float(score.system.removeprefix("dropout ")) for score in found]
        axes.plot(shares, [score.value for score in found], marker="o", label=protocol)
    axes.legend()
    with atomic_path(path) as unfinished:
        figure.savefig(unfinished, format="png", dpi=100)
