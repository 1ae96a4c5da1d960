"""clVAE's Table 2: language modelling on Yahoo and Yelp.

    paraform reproduce clvae/table2 --corpus yahoo --scale small --data ../shared/data --out runs/clvae

Our Yahoo and Yelp are other splits than the paper's (Yelp's sentences are short), so that no published figure stands
beside ours. Running time and figures: docs/results/clvae.md.
"""

from __future__ import annotations

from pathlib import Path
from typing import Literal

from paraform.recipes.latent_rows import Rows, Scale, config_of, run_rows

ROWS = ("vae", "beta-vae", "ivae", "ivae_mi", "clvae+_mi")  # SaVAE and LagVAE, which cost several times these: table 1


def run(
    *,
    scale: Scale = "smoke",
    corpus: Literal["yahoo", "yelp"] = "yahoo",
    data: Path = Path("../shared/data"),
    out: Path = Path("runs/clvae"),
    seed: int = 0,
    device: str | None = None,
) -> Rows:
    """Train the rows (those begun go on) and measure them."""
    configs = {row: config_of(row, scale, corpus) for row in ROWS}
    return run_rows(configs, {}, scale, corpus, data=data, out=out, seed=seed, device=device)
