"""clVAE's Table 1 and Figure 3: language modelling on PTB, every model of the family, under both protocols.

    paraform reproduce clvae/table1 --scale small --data ../shared/data --out runs/clvae

Writes OUT/ptb/SCALE/collapse.png, how much of its latent space each row uses, epoch by epoch; figure3.png, what each
protocol calls KL and bound, epoch by epoch; and, without --row, protocols.png, what each says of every row at the end.
SaVAE and LagVAE, whose steps cost several times those of the others, are runs of their own: --row savae. So are the
rows that tell contrast from what comes with it, dropout and a second view: --row vae-dropout vae-two-views. At the
small scale the first 10,000 sentences are trained on for 5 epochs (SaVAE: one), and the first 1,000 of the other splits
are read; at the long scale all of them, for 10 epochs. Running time and figures: docs/results/clvae.md.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from paraform.evaluation.latent import PROTOCOL_PANELS, draw_collapse
from paraform.evaluation.pictures import save_plot
from paraform.models.latent import OBJECTIVES
from paraform.score import Score
from paraform_papers.clvae.configs import CONTROLS, configs_of
from paraform_papers.clvae.latent_rows import latent_table
from paraform_papers.clvae.protocols_plot import protocols_plot
from paraform_papers.tables import Asked

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


def draw(scores: Sequence[Score], asked: Asked) -> None:
    """The pictures; a part of the table does not replace that of the whole."""
    runs = {row: asked.place / row for row in (*OBJECTIVES, *CONTROLS)}  # of earlier calls too
    draw_collapse(runs, asked.place / "collapse.png")
    draw_collapse(runs, asked.place / "figure3.png", PROTOCOL_PANELS)
    if not asked.rows:
        save_plot(protocols_plot(scores), asked.place / "protocols.png")


configs = partial(configs_of, (*OBJECTIVES, *CONTROLS))
TABLE = latent_table("clvae/table1", "clVAE's Table 1: language modelling on PTB", configs, PUBLISHED, draw=draw)
