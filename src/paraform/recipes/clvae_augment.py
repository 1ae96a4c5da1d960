"""clVAE's Table 7: dropout of features or swapped words as the second view of a sentence, on PTB.

    paraform reproduce clvae/augment --scale small --data ../shared/data --out runs/clvae

The row of dropout is that of Table 1. Running time and figures: docs/results/clvae.md.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from paraform.recipes import clvae_table1 as table1
from paraform.recipes.latent_rows import SIZES, Rows, Scale, config_of, run_rows

PUBLISHED = {"swap": (79.1, 36.96, 9.21, 8.95, 32)} | table1.PUBLISHED


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
    dropout = config_of("clvae+_mi", size)
    swap = replace(dropout, positives="swap", plain_dropout=0.0)  # words that are swapped, and nothing else
    known = {"swap": swap, "clvae+_mi": dropout}
    return run_rows(known, PUBLISHED, size, "ptb", asked=rows, data=data, out=out, seed=seed, device=device)
