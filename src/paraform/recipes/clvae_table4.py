"""clVAE's Table 4: forward and reverse perplexity of samples by 5-gram models, on PTB.

    paraform reproduce clvae/table4 --scale small --data ../shared/data --out runs/clvae

Needs lmplz (tools/build_lmplz.sh). The rows are those of Table 1, and β0-VAE; those that tell contrast from what comes
with it are runs of their own (--row ivae_mi-two-views). Running time and figures: docs/results/clvae.md.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from paraform.recipes.latent_rows import CONTROLS, SIZES, Rows, Scale, configs_of, run_rows

ROWS = ("vae", "cycvae", "ae", "beta-vae", "savae", "ivae", "ivae_mi", "clvae+_mi")
PUBLISHED = {  # forward and reverse
    "vae": (18_494, 10_149),
    "cycvae": (3_390, 5_587),
    "ae": (672, 2_589),
    "beta0-vae": (625, 1_897),
    "beta-vae": (939, 4_078),
    "savae": (341, 10_651),
    "ivae": (116, 1_520),
    "ivae_mi": (134, 1_137),
    "clvae+_mi": (120, 1_047),
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
    known = configs_of((*ROWS, *CONTROLS), size)
    known["beta0-vae"] = replace(known["beta-vae"], beta=0.0)
    return run_rows(
        known, PUBLISHED, size, "ptb", asked=rows, data=data, out=out, seed=seed, device=device, ngrams=True
    )
