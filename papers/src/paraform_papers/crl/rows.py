"""CRL-EGPG's rows of its tables, each with what it leaves out, and how large a training a scale is."""

from __future__ import annotations

from dataclasses import dataclass, replace

from paraform.models.exemplar import ExemplarConfig
from paraform.records import Pair
from paraform_papers.crl.data import Corpus, load, part_of
from paraform_papers.tables import Asked, Scale

ROWS = {
    "full": {"content": False, "style": False},
    "without CCL": {"content": True, "style": False},
    "without SCL": {"content": False, "style": True},
    "without both": {"content": True, "style": True},
}
BY_PAPER = {f"{row}, paper weights": row for row in ("full", "without CCL", "without SCL")}
"""Rows by the λ1, λ2 and τ of paper and code; `compact()` has a fifth of that λ1 and of that τ."""
OWN = (*ROWS, *BY_PAPER)


@dataclass(frozen=True)
class Setting:
    """What a scale means: how many training pairs (whole clusters, drawn by seed; 0: all) and which configuration."""

    pairs: int
    test_pairs: int
    config: ExemplarConfig


def setting(scale: Scale, corpus: Corpus) -> Setting:
    """The setting of a scale on a corpus."""
    compact = ExemplarConfig.compact()
    if scale == "smoke":
        tiny = replace(compact, word_width=32, content_width=16, decoder_width=32, style_width=8, batch_size=32)
        return Setting(300, 60, replace(tiny, epochs=1, word_vectors="random", min_count=1))
    if scale == "small":
        small = replace(compact, pool_size=20_000, dropout=0.1)
        if corpus == "quora":
            return Setting(16_000, 0, replace(small, epochs=2, min_count=10))
        return Setting(0, 0, replace(small, epochs=3, min_count=6))
    if scale == "long":
        return Setting(0, 0, replace(compact, epochs=2, min_count=compact.min_count if corpus == "quora" else 6))
    paper = ExemplarConfig.paper()
    return Setting(
        0, 0, replace(paper, epochs=45 if corpus == "quora" else 30, min_count=2 if corpus == "quora" else 3)
    )


def of_row(config: ExemplarConfig, row: str) -> ExemplarConfig:
    """The configuration of one of `ROWS` or `BY_PAPER`, from that of full."""
    if row in BY_PAPER:
        config = replace(config, content_weight=0.1, style_weight=0.1, temperature=0.5)
    return config.without(**ROWS[BY_PAPER.get(row, row)])


def measured_pairs(asked: Asked) -> list[Pair]:
    """The pairs of the test split that a scale measures."""
    return part_of(load(asked.data, asked.corpus, "test"), setting(asked.scale, asked.corpus).test_pairs, asked.seed)
