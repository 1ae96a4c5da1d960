"""Training the rows of ParaBART's tables, each in a folder of its own that is kept."""

from __future__ import annotations

import random
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

from paraform import checkpoint, corpora
from paraform.corpora.evaluation_sets import read_evaluation_sets
from paraform.encoders.folder import WEIGHTS
from paraform.evaluation.embedding.development import MEAN, read_development
from paraform.models.disentangled import DisentangledConfig
from paraform.records import Pair
from paraform.trainers.disentangled import BY_MRR, texts_of, train_disentangled
from paraform.trainers.erasing import erase
from paraform.trainers.held_out import unseen_pairs
from paraform.weights import sha256
from paraform_papers.parabart.configs import ERASED, SIZES, Scale, config_of, corpora_of, name_of
from paraform_papers.rivals.encoders import train_rival
from paraform_papers.trained import forget_trained, is_trained, mark_trained

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


def train_row(row: str, scale: Scale, data: Path, out: Path, *, seed: int, device: str) -> Path:
    """Train one row, or go on with it; returns its folder. Raises: KeyboardInterrupt if interrupted, and saved."""
    folder = folder_of(row, scale, out, seed)
    config = config_of(row, scale)
    if is_done(row, scale, out, seed):
        return folder  # nothing is parsed again
    forget_trained(folder)
    texts = read_evaluation_sets([data / name for name in EVALUATION if (data / name).exists()])
    sets = read_development(data)
    against = [*(text for some in texts.values() for text in some), *sets.texts()]
    if config is None:
        erase_row(row, scale, data, out, against, seed=seed, device=device)
    elif not isinstance(config, DisentangledConfig):
        train_rival(config, scale, data, folder, against, sets, seed=seed, device=device)
    else:
        loop = replace(
            BY_MRR, metric=MEAN, seed=seed, evaluate_every=SIZES[scale].evaluate_every, checkpoint_every=100,
            log_every=50, device=device, mixed_precision="bf16",
        )  # fmt: skip
        pairs = pairs_of(data, corpora_of(row, scale))
        result = train_disentangled(
            pairs, folder, config=config, loop=loop, against=against, development=sets, resume=True
        )
        result.require_over()
    mark_trained(folder, about_row(row, scale, out, seed))
    return folder


def is_done(row: str, scale: Scale, out: Path, seed: int) -> bool:
    """Whether a row is there, trained as its configuration is now, or erased of what is there now."""
    return is_trained(folder_of(row, scale, out, seed), about_row(row, scale, out, seed))


def about_row(row: str, scale: Scale, out: Path, seed: int) -> dict[str, Any]:
    """What a row depends on; of one that is erased the weights of the row that it comes of."""
    config = config_of(row, scale)
    if config is not None:
        return asdict(config)
    start, _, part = row.partition(" ")
    of, erased = ERASED[part]
    weights = folder_of(f"{start} {of}", scale, out, seed) / "best" / WEIGHTS if of else None
    return {"erased": erased, "of": sha256(weights) if weights and weights.is_file() else name_of(start)}


def erase_row(row: str, scale: Scale, data: Path, out: Path, against: Sequence[str], *, seed: int, device: str) -> None:
    """Make an encoder, FOLDER/encoder, of another row's or of the start, from which form is erased."""
    start, _, part = row.partition(" ")
    of, erased = ERASED[part]
    folder = folder_of(row, scale, out, seed)
    shutil.rmtree(folder, ignore_errors=True)  # what a kill has left
    folder.mkdir(parents=True)
    encoder = name_of(start)
    if of:
        before = train_row(f"{start} {of}", scale, data, out, seed=seed, device=device)
        encoder = str(checkpoint.load(str(before)).export(folder / "before"))
    texts = texts_of(unseen_pairs(pairs_of(data, corpora_of(row, scale)), against))
    erase(encoder, texts, folder / "encoder", erased=erased, seed=seed, device=None if device == "auto" else device)


def folder_of(row: str, scale: Scale, out: Path, seed: int) -> Path:
    """A row's folder."""
    return out / scale / f"seed-{seed}" / row.replace(", ", "+").replace(" ", "-")
