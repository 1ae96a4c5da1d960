"""clVAE's Table 1 and Figure 3: language modelling on PTB, every model of the family, under both protocols.

    paraform reproduce clvae/table1 --scale small --data ../shared/data --out runs/clvae

Writes OUT/ptb/SCALE/collapse.png, how much of its latent space each row uses, epoch by epoch, and, without --row,
protocols.png, what each protocol says of every row.
SaVAE and LagVAE, whose steps cost several times those of the others, are runs of their own: --row savae. So are the
rows that tell contrast from what comes with it, dropout and a second view: --row vae-dropout vae-two-views. At the
small scale the first 10,000 sentences are trained on for 5 epochs (SaVAE: one), and the first 1,000 of the other splits
are read. Running time and figures: docs/results/clvae.md.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from paraform.evaluation.latent import draw_watched
from paraform.models.latent import OBJECTIVES
from paraform.recipes.latent_figures import protocols_figure
from paraform.recipes.latent_rows import CONTROLS, SIZES, Rows, Scale, configs_of, run_rows
from paraform.weights import atomic_path

PUBLISHED = {  # −ELBO, PPL, KL, MI, AU
    "vae": (102.6, 108.26, 1.08, 0.8, 2),
    "beta-vae": (104.5, 117.92, 7.50, 3.1, 5),
    "savae": (102.6, 107.71, 1.23, 0.7, 2),
    "cycvae": (103.1, 110.50, 3.48, 1.8, 5),
    "ivae": (87.6, 54.46, 6.32, 3.5, 32),
    "ivae_mi": (87.2, 53.44, 12.51, 12.2, 32),
    "clvae": (82.7, 43.51, 8.37, 5.55, 32),
    "clvae_mi": (82.7, 43.49, 13.95, 13.69, 32),
    "clvae+": (79.8, 38.04, 7.01, 4.72, 32),
    "clvae+_mi": (77.7, 34.61, 9.94, 9.58, 32),
}


def run(
    *,
    scale: Scale = "smoke",
    data: Path = Path("../shared/data"),
    out: Path = Path("runs/clvae"),
    rows: Sequence[str] = (),
    seed: int = 0,
    device: str | None = None,
) -> Rows:
    """Train rows (those begun go on) and measure them; `rows` as `chosen_rows` has it."""
    size = SIZES[scale]
    known = configs_of((*OBJECTIVES, *CONTROLS), size)
    rows_found = run_rows(known, PUBLISHED, size, "ptb", asked=rows, data=data, out=out, seed=seed, device=device)
    place = out / "ptb" / scale
    draw_watched({row: place / row for row in OBJECTIVES}, place / "collapse.png")  # of earlier calls too
    if not rows:  # a part of the table does not replace the picture of the whole
        with atomic_path(place / "protocols.png") as unfinished:
            protocols_figure(rows_found).savefig(unfinished, format="png", dpi=100)
    return rows_found
