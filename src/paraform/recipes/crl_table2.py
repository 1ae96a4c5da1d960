"""CRL-EGPG's Tables 2 and 3 and Figure 2: full, without CCL, without SCL, without both.

    paraform reproduce crl-table2 --scale small --corpus quora --data ../shared/data --out runs/crl

Running time on two cores: smoke, seconds; small, 10 to 15 minutes a row; full (BERT-base's place taken by the offline
encoder, fine-tuned, at the paper's sizes), hours a row on one GPU. Expected figures: docs/results/crl.md.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

from paraform import corpora
from paraform.models.exemplar import ExemplarConfig
from paraform.recipes.exemplar_training import train_exemplar
from paraform.records import InputError, Pair
from paraform.training import TrainingConfig
from paraform.weights import sha256

Corpus = Literal["quora", "paranmt"]
Scale = Literal["smoke", "small", "full"]
ROWS = {
    "full": {"content": False, "style": False},
    "without CCL": {"content": True, "style": False},
    "without SCL": {"content": False, "style": True},
    "without both": {"content": True, "style": True},
}


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
        if corpus == "quora":
            return Setting(16_000, 0, replace(compact, epochs=4, min_count=5))
        return Setting(0, 0, replace(compact, epochs=4, min_count=3))
    paper = ExemplarConfig.paper()
    return Setting(
        0, 0, replace(paper, epochs=45 if corpus == "quora" else 30, min_count=2 if corpus == "quora" else 3)
    )


def part_of(pairs: Sequence[Pair], size: int, seed: int) -> list[Pair]:
    """Whole duplicate clusters, drawn by seed, until `size` pairs are reached; 0: all."""
    if not size:
        return list(pairs)
    numbers = sorted({pair.cluster or 0 for pair in pairs})
    random.Random(seed).shuffle(numbers)
    members: dict[int, list[Pair]] = {}
    for pair in pairs:
        members.setdefault(pair.cluster or 0, []).append(pair)
    out: list[Pair] = []
    for number in numbers:
        if len(out) + len(members[number]) <= size:
            out += members[number]
    return out


def load(data: Path, corpus: Corpus, split: str) -> list[Pair]:
    """A split's pairs with their clusters."""
    records = corpora.read(data / corpus / f"{split}.tsv", "paranmt" if corpus == "paranmt" else "pairs")
    return corpora.clusters(record for record in records if isinstance(record, Pair))


def train_row(
    row: str, scale: Scale, corpus: Corpus, data: Path, out: Path, *, seed: int = 0, resume: bool = True
) -> Path:
    """Train one row (or go on with it); returns the folder of its best checkpoint.

    Raises: InputError if there is no such row.
    """
    if row not in ROWS:
        raise InputError(f"row {row!r}; expected one of {', '.join(ROWS)}")
    chosen = setting(scale, corpus)
    pairs = part_of(load(data, corpus, "train"), chosen.pairs, seed)
    validation = part_of(load(data, corpus, "dev"), chosen.test_pairs, seed)
    folder = out / corpus / scale / row.replace(" ", "-")
    every = 5 if scale == "smoke" else 125
    train_exemplar(
        pairs,
        validation,
        chosen.config.without(**ROWS[row]),
        TrainingConfig(
            seed=seed,
            metric="bleu",
            higher_is_better=True,
            evaluate_every=every,
            checkpoint_every=every,
            log_every=11,
        ),
        folder,
        data_digests={f"{corpus}/train.tsv": sha256(data / corpus / "train.tsv")},
        resume=resume,
    )
    return folder / "best"
