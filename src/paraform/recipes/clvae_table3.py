"""clVAE's Table 3: the contrast on the encoder's state h or on the latent vector z, on PTB.

    paraform reproduce clvae/table3 --scale small --data ../shared/data --out runs/clvae

The rows on z are those of Table 1. Running time and figures: docs/results/clvae.md.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from paraform.recipes import clvae_table1 as table1
from paraform.recipes.latent_rows import SIZES, Rows, Scale, configs_of, run_rows

PUBLISHED = {
    "clvae-h": (83.0, 44.10, 7.51, 4.92, 32),
    "clvae_mi-h": (86.7, 52.13, 13.35, 13.09, 32),
} | table1.PUBLISHED


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
    pairs = (("clvae-h", "clvae"), ("clvae_mi-h", "clvae_mi"))
    known = configs_of([row for pair in pairs for row in pair], size)
    return run_rows(
        known, PUBLISHED, size, "ptb", asked=rows, data=data, out=out, seed=seed, device=device, pairs=pairs
    )
