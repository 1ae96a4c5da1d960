"""clVAE's Table 4: forward and reverse perplexity of samples by 5-gram models, on PTB.

    paraform reproduce clvae/table4 --scale small --data ../shared/data --out runs/clvae

Needs lmplz (tools/build_lmplz.sh). The rows are those of Table 1, and β0-VAE. Running time and figures:
docs/results/clvae.md.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from paraform.recipes.latent_rows import Rows, Scale, config_of, run_rows

ROWS = ("vae", "cycvae", "ae", "beta-vae", "ivae", "ivae_mi", "clvae+_mi")


def run(
    *,
    scale: Scale = "smoke",
    data: Path = Path("../shared/data"),
    out: Path = Path("runs/clvae"),
    seed: int = 0,
    device: str | None = None,
) -> Rows:
    """Train the rows (those begun go on) and measure them."""
    configs = {row: config_of(row, scale) for row in ROWS}
    configs["beta0-vae"] = replace(config_of("beta-vae", scale), beta=0.0)
    return run_rows(configs, {}, scale, "ptb", data=data, out=out, seed=seed, device=device, ngrams=True)
