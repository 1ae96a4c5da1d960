"""Training the rows of PAR's tables, each in a folder of its own that is kept."""

from __future__ import annotations

import random
from collections.abc import Iterable
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

from paraform import checkpoint, corpora
from paraform.corpora.labelled_pairs import read_labelled_pairs
from paraform.models.disentangled import DisentangledConfig
from paraform.records import Pair
from paraform.trainers.disentangled import BY_MRR, train_disentangled
from paraform.trainers.retrofit import BY_ACCURACY, BY_RATIO, train_retrofit
from paraform_papers.par.configs import SIZES, Config, Corpus, Scale, config_of, pairs_of_row
from paraform_papers.trained import forget_trained, is_trained, mark_trained

FILES: dict[Corpus, str] = {
    "mrpc": "mrpc/msr_paraphrase_train.txt",
    "pan": "pan/pan-train.labels",
    "quora": "quora/train.tsv",
}
ENCODER = "encoder"  # of a row of contrast, the folder that it is exported to


def read_corpus(corpus: Corpus, data: Path, most: int = 0, *, first: bool = False) -> list[Pair]:
    """The training pairs of a corpus; of more than `most` some drawn by a seed, or the first."""
    pairs = list(read_labelled_pairs(data / FILES[corpus]))
    if not most or len(pairs) <= most:
        return pairs
    return pairs[:most] if first else random.Random(0).sample(pairs, most)


def pairs_of(row: str, scale: Scale, data: Path) -> list[Pair]:
    """The pairs of a row, those of one sentence in one cluster."""
    first = getattr(config_of(row, scale), "sample", "random") == "first"  # as the authors' code samples
    found = [read_corpus(corpus, data, most, first=first) for corpus, most in pairs_of_row(row, scale).items()]
    return corpora.clusters(pair for some in found for pair in some)


def training_texts(data: Path, of: Iterable[Corpus] = FILES) -> list[str]:
    """Every sentence that a row may have been trained on; of Quora all, not only those drawn."""
    pairs = (pair for corpus in of if (data / FILES[corpus]).is_file() for pair in read_corpus(corpus, data))
    return list(dict.fromkeys(side.text for pair in pairs for side in (pair.source, pair.target)))


def train_row(row: str, scale: Scale, data: Path, out: Path, *, seed: int, device: str) -> Path:
    """Train one row, or go on with it; returns its folder. Raises: KeyboardInterrupt if interrupted, and saved.

    As in the paper sentences of evaluation sets are trained on: figures are with and without them.
    """
    folder, config = folder_of(row, scale, out, seed), config_of(row, scale)
    if is_done(row, scale, out, seed):
        return folder
    forget_trained(folder)
    pairs = pairs_of(row, scale, data)
    every = SIZES[scale].evaluate_every
    given: dict[str, Any] = {"seed": seed, "evaluate_every": every, "checkpoint_every": every, "device": device}
    if isinstance(config, DisentangledConfig):
        same = [pair for pair in pairs if pair.label != 0]
        result = train_disentangled(same, folder, config=config, loop=replace(BY_MRR, **given), resume=True)
    else:
        loop = BY_ACCURACY if row.endswith(("paper", "reference")) else BY_RATIO
        result = train_retrofit(pairs, folder, config=config, loop=replace(loop, **given), resume=True)
    result.require_over()
    if isinstance(config, DisentangledConfig):  # an encoder has states of words
        checkpoint.load(str(folder), device=None if device == "auto" else device).export(folder / ENCODER)
    mark_trained(folder, about_row(row, scale))
    return folder


def is_done(row: str, scale: Scale, out: Path, seed: int) -> bool:
    """Whether a row is there, trained as its configuration is now."""
    return is_trained(folder_of(row, scale, out, seed), about_row(row, scale))


def about_row(row: str, scale: Scale) -> dict[str, object]:
    """What a row depends on."""
    config: Config = config_of(row, scale)
    return {**asdict(config), "pairs": pairs_of_row(row, scale)}


def folder_of(row: str, scale: Scale, out: Path, seed: int) -> Path:
    """A row's folder."""
    return out / scale / f"seed-{seed}" / row.replace(" ", "-")
