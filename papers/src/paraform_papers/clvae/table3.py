"""clVAE's Table 3: the contrast on the encoder's state h or on the latent vector z, on PTB.

    paraform reproduce clvae/table3 --scale small --data ../shared/data --out runs/clvae

The rows on z are those of Table 1. Running time and figures: docs/results/clvae.md.
"""

from __future__ import annotations

from functools import partial

from paraform_papers.clvae import table1
from paraform_papers.clvae.configs import configs_of
from paraform_papers.clvae.latent_rows import latent_table

PAIRS = (("clvae-h", "clvae"), ("clvae_mi-h", "clvae_mi"))
PUBLISHED = {
    "clvae-h": (83.0, 44.10, 7.51, 4.92, 32),
    "clvae_mi-h": (86.7, 52.13, 13.35, 13.09, 32),
} | table1.PUBLISHED

configs = partial(configs_of, [row for pair in PAIRS for row in pair])
TABLE = latent_table("clvae/table3", "clVAE's Table 3: contrast on h or on z", configs, PUBLISHED, pairs=PAIRS)
