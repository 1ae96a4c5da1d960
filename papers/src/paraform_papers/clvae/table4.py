"""clVAE's Table 4: forward and reverse perplexity of samples by 5-gram models, on PTB.

    paraform reproduce clvae/table4 --scale small --data ../shared/data --out runs/clvae

Needs lmplz (tools/build_lmplz.sh). The rows are those of Table 1, and β0-VAE; those that tell contrast from what comes
with it, and the rest of Table 1, are runs of their own (--row ivae_mi-two-views). Running time and figures:
docs/results/clvae.md.
"""

from __future__ import annotations

from dataclasses import replace

from paraform.models.latent import OBJECTIVES, LatentConfig
from paraform_papers.clvae.configs import ALONE, Corpus, Size, configs_of
from paraform_papers.clvae.latent_rows import latent_table

ROWS = ("vae", "cycvae", "ae", "beta-vae", "savae", "ivae", "ivae_mi", "clvae+_mi")
OTHERS = tuple(row for row in (*OBJECTIVES, *ALONE) if row not in ROWS)
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


def configs(size: Size, corpus: Corpus) -> dict[str, LatentConfig]:
    """By row."""
    known = configs_of((*ROWS, *OTHERS), size, corpus)
    return known | {"beta0-vae": replace(known["beta-vae"], beta=0.0)}


TABLE = latent_table(
    "clvae/table4", "clVAE's Table 4: perplexity of samples", configs, PUBLISHED, ngrams=True, alone=(*ALONE, *OTHERS)
)
