"""clVAE's Table 7: dropout of features or swapped words as the second view of a sentence, on PTB.

    paraform reproduce clvae/augment --scale small --data ../shared/data --out runs/clvae

The row of dropout is that of Table 1. Running time and figures: docs/results/clvae.md.
"""

from __future__ import annotations

from dataclasses import replace

from paraform.models.latent import LatentConfig
from paraform_papers.clvae import table1
from paraform_papers.clvae.configs import Corpus, Size, config_of
from paraform_papers.clvae.latent_rows import latent_table

PUBLISHED = {"swap": (79.1, 36.96, 9.21, 8.95, 32)} | table1.PUBLISHED


def configs(size: Size, corpus: Corpus) -> dict[str, LatentConfig]:
    """By row."""
    dropout = config_of("clvae+_mi", size, corpus)
    swap = replace(dropout, positives="swap", plain_dropout=0.0)  # words that are swapped, and nothing else
    return {"swap": swap, "clvae+_mi": dropout}


TABLE = latent_table("clvae/augment", "clVAE's Table 7: the second view", configs, PUBLISHED)
