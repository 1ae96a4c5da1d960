"""clVAE with a decoder that knows English: rows of Table 1, each with adapters on `smollm2` in the place of LSTMs.

    paraform reproduce clvae/language_model --scale small --data ../shared/data --out runs/clvae-lm/0 --seed 0

A strong decoder can do without z (Bowman et al. 2016): does contrast keep it in use, as V28 says? `vae+contrast` and
`vae-two-views`, `clvae+_mi` and `clvae+_mi-two-views` differ in the contrast's weight alone. At the small scale 5,000
sentences are read once, and 300 test sentences measured by 32 samples. With AMX a row took 20 minutes of a
core, one of two views 30, and measuring it 20 more, where critics estimate 40.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from paraform.models.latent import LatentConfig
from paraform_papers.clvae.configs import Size, config_of
from paraform_papers.clvae.latent_rows import latent_table
from paraform_papers.tables import Scale

SIZES: Mapping[Scale, Size] = {
    "smoke": Size("smoke", 40, 40, 12, 2, 1, 1, False),
    "small": Size("small", 5_000, 5_000, 300, 32, 1, 1, False),
    "long": Size("long", 0, 0, 0, 32, 1, 1, False),
    "full": Size("full", 0, 0, 0, 128, 40, 40, True),
}
ROWS = ("vae", "beta-vae", "vae+contrast", "vae-two-views", "ivae_mi", "clvae+_mi", "clvae+_mi-two-views")
PAIRS = (
    ("vae+contrast", "vae-two-views"),
    ("clvae+_mi", "clvae+_mi-two-views"),
    *(("vae", row) for row in ROWS if row not in ("vae", "clvae+_mi-two-views")),
)
OWN = ("network", "base", "decoder_dropout", "batch_size", "critic_learning_rate")
BASE: dict[str, Any] = {name: getattr(LatentConfig.lm(), name) for name in OWN}
"""What is not Table 1's."""


def configs(size: Size, corpus: Any) -> dict[str, LatentConfig]:
    """Configurations by row."""
    return {row: replace(config_of(row, size, corpus), **BASE) for row in ROWS}


TABLE = latent_table(
    "clvae/language_model", "clVAE's rows on a language model", configs, {}, sizes=SIZES, alone=(), pairs=PAIRS
)
