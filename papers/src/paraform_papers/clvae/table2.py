"""clVAE's Table 2: language modelling on Yahoo and Yelp. SaVAE and LagVAE are runs of their own: --row savae.

    paraform reproduce clvae/table2 --corpus yahoo --scale small --data ../shared/data --out runs/clvae

At the small scale networks are of PTB's size, and there are two epochs, 5,000 documents of Yahoo, 20,000 sentences of
Yelp and 1,000 of the other splits. Our Yahoo and Yelp are other splits than the paper's (Yelp's sentences are short),
so that no published figure stands beside ours. The row clvae_mi-h is what the authors' Yelp script trains. Running time
and figures: docs/results/clvae.md.
"""

from __future__ import annotations

from paraform.models.latent import LatentConfig
from paraform_papers.clvae.configs import BRIEF, Corpus, Size, configs_of
from paraform_papers.clvae.latent_rows import latent_table

ROWS = ("vae", "beta-vae", "savae", "lagvae", "ivae", "ivae_mi", "clvae+_mi")
SCRIPT = "clvae_mi-h"  # what the authors' Yelp script trains


def configs(size: Size, corpus: Corpus) -> dict[str, LatentConfig]:
    """By row."""
    return configs_of((*ROWS, *((SCRIPT,) if corpus == "yelp" else ())), size, corpus)


TABLE = latent_table("clvae/table2", "clVAE's Table 2: language modelling, further corpora", configs, {}, sizes=BRIEF)
