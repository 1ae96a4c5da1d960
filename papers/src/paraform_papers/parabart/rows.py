"""Training the rows of ParaBART's tables, each in a folder of its own that is kept."""

from __future__ import annotations

import random
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from paraform import checkpoint, corpora
from paraform.corpora.evaluation_sets import read_evaluation_sets
from paraform.encoders.folder import WEIGHTS
from paraform.evaluation.embedding.development import MEAN, read_development
from paraform.models.disentangled import DisentangledConfig
from paraform.records import Pair, texts_of
from paraform.trainers.disentangled import BY_MRR, train_disentangled
from paraform.trainers.erasing import erase
from paraform.trainers.held_out import unseen_pairs
from paraform.weights import sha256
from paraform_papers.parabart.configs import ERASED, SIZES, config_of, corpora_of, name_of
from paraform_papers.rivals.encoders import train_rival
from paraform_papers.rows import ENCODER, Row, train_row
from paraform_papers.tables import Asked

FILES = {  # of each corpus, and how it is read
    "quora": ("quora/train.tsv", "pairs"),
    "tatoeba": ("tatoeba/pairs.tsv", "pairs"),
    "paranmt": ("paranmt/train.tsv", "paranmt"),
    "multi30k": ("multi30k/train.tsv", "captions"),
}
EVALUATION = ("sts", "stsb", "sick", "senteval", "mrpc", "pan", "paws", "quora/dev.tsv", "quora/test.tsv")
"""What no row is trained on."""


def pairs_of(data: Path, sizes: Mapping[str, int], seed: int = 0) -> list[Pair]:
    """The pairs of corpora, one after the other, in an order drawn by seed; of an image one pair of captions."""
    out: list[Pair] = []
    for corpus, most in sizes.items():
        file, layout = FILES[corpus]
        read = [record for record in corpora.read(data / file, layout) if isinstance(record, Pair)]
        random.Random(seed).shuffle(read)
        if layout == "captions":
            read = list({pair.cluster: pair for pair in read}.values())
        out += read[: most or None]
    return corpora.clusters(replace(pair, cluster=None) for pair in out)


def row_of(name: str, asked: Asked) -> Row:
    """A row as it is trained, or erased. Raises: InputError for no row, or one that the scale does not have."""
    config = config_of(name, asked.scale)
    folder = asked.folder(name.replace(", ", "+").replace(" ", "-"))

    def about() -> dict[str, Any]:
        """Of a row that is erased the weights of the row that it comes of."""
        if config is not None:
            return {}
        start, _, part = name.partition(" ")
        of, erased = ERASED[part]
        weights = row_of(f"{start} {of}", asked).folder / "best" / WEIGHTS if of else None
        return {"erased": erased, "of": sha256(weights) if weights and weights.is_file() else name_of(start)}

    return Row(name, folder, lambda: train(name, config, folder, asked), config, about, asked.seed)


def train(name: str, config: Any, folder: Path, asked: Asked) -> None:
    """Train one row, or go on with it. Raises: KeyboardInterrupt if interrupted, and saved."""
    scale = asked.scale
    texts = read_evaluation_sets([asked.data / one for one in EVALUATION if (asked.data / one).exists()])
    sets = read_development(asked.data)
    against = [*(text for some in texts.values() for text in some), *sets.texts()]
    if config is None:
        erase_row(name, folder, asked, against)
    elif not isinstance(config, DisentangledConfig):
        train_rival(config, asked, folder, against, sets)
    else:
        loop = replace(
            BY_MRR, metric=MEAN, seed=asked.seed, evaluate_every=SIZES[scale].evaluate_every, checkpoint_every=100,
            log_every=50, device=asked.trained_on, mixed_precision="bf16",
        )  # fmt: skip
        pairs = pairs_of(asked.data, corpora_of(name, scale))
        given: dict[str, Any] = {"against": against, "development": sets, "resume": True}
        train_disentangled(pairs, folder, config=config, loop=loop, **given).require_over()


def erase_row(name: str, folder: Path, asked: Asked, against: Sequence[str]) -> None:
    """Make an encoder, FOLDER/encoder, of another row's or of the start, from which form is erased."""
    scale = asked.scale
    start, _, part = name.partition(" ")
    of, erased = ERASED[part]
    shutil.rmtree(folder, ignore_errors=True)  # what a kill has left
    folder.mkdir(parents=True)
    encoder = name_of(start)
    if of:
        train_row(before := row_of(f"{start} {of}", asked))
        encoder = str(checkpoint.load(str(before.folder)).export(folder / "before"))
    texts = texts_of(unseen_pairs(pairs_of(asked.data, corpora_of(name, scale)), against))
    erase(encoder, texts, folder / ENCODER, erased=erased, seed=asked.seed, device=asked.device)
