"""The rows of PAR's tables, each trained in a folder of its own that is kept, and measured beside the encoder as it
comes."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

from paraform import checkpoint, corpora
from paraform.corpora.labelled_pairs import read_labelled_pairs
from paraform.evaluation.embedding.measuring import bounded, differences_of
from paraform.evaluation.embedding.task import Finding
from paraform.models.disentangled import DisentangledConfig
from paraform.records import Pair, texts_of
from paraform.score import Score
from paraform.trainers.disentangled import BY_MRR, train_disentangled
from paraform.trainers.retrofit import BY_ACCURACY, BY_RATIO, train_retrofit
from paraform_papers.par.configs import AS_PUBLISHED, ROWS, SIZES, Config, Corpus, config_of, pairs_of_row, rows_of
from paraform_papers.par.models import Model, models_of
from paraform_papers.rows import ENCODER, Row
from paraform_papers.tables import Asked, Figures, Scale, Table, as_json

FILES: dict[Corpus, str] = {
    "mrpc": "mrpc/msr_paraphrase_train.txt",
    "pan": "pan/pan-train.labels",
    "quora": "quora/train.tsv",
}


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


def training_texts(data: Path) -> list[str]:
    """Every sentence that a row may have been trained on; of Quora all, not only those drawn."""
    pairs = (pair for corpus in FILES if (data / FILES[corpus]).is_file() for pair in read_corpus(corpus, data))
    return list(dict.fromkeys(texts_of(pairs)))


def row_of(name: str, asked: Asked) -> Row:
    """A row as it is trained. Raises: InputError for no row, or no scale."""
    scale = asked.scale
    config, folder = config_of(name, scale), asked.folder(name.replace(" ", "-"))
    pairs = {"pairs": pairs_of_row(name, scale)}
    return Row(name, folder, lambda: train(name, config, folder, asked), config, lambda: pairs, asked.seed)


def train(name: str, config: Config, folder: Path, asked: Asked) -> None:
    """Train one row, or go on with it. Raises: KeyboardInterrupt if interrupted, and saved.

    As in the paper sentences of evaluation sets are trained on: figures are with and without them.
    """
    pairs, every = pairs_of(name, asked.scale, asked.data), SIZES[asked.scale].evaluate_every
    retrofit = BY_ACCURACY if ROWS[name][2] in (*AS_PUBLISHED, "reference") else BY_RATIO
    loop = BY_MRR if isinstance(config, DisentangledConfig) else retrofit
    loop = replace(loop, seed=asked.seed, evaluate_every=every, checkpoint_every=every, device=asked.trained_on)
    if ROWS[name][0] == "smollm2 before":  # each step goes through all of it and back
        loop = replace(loop, mixed_precision="bf16")
    if isinstance(config, DisentangledConfig):
        same = [pair for pair in pairs if pair.label != 0]
        train_disentangled(same, folder, config=config, loop=loop, resume=True).require_over()
        checkpoint.load(str(folder), device=asked.device).export(folder / ENCODER)  # which has states of words
    else:
        train_retrofit(pairs, folder, config=config, loop=loop, resume=True).require_over()


def rows_asked(asked: Asked) -> list[Row]:
    """The rows asked for; if none is, those of `rows_of`."""
    return [row_of(name, asked) for name in asked.rows or rows_of(asked.scale)]


def models_table(
    name: str,
    title: str,
    find: Callable[[Asked, list[Model]], tuple[list[Finding], str]],
    published: tuple[Score, ...] = (),
) -> Table:
    """A table of rows of every seed, each with its difference from what it started from.

    Args:
        find: what is found of the models, and what is to be read beside.
        published: figures of the paper, which stand before ours.
    """

    def measure(asked: Asked, rows: Sequence[Row]) -> Figures:
        models, resamples = models_of(asked, rows), SIZES[asked.scale].resamples
        findings, text = find(asked, models)
        apart = [
            one
            for model in models
            if model.start is not None
            for one in differences_of(findings, [model.name, model.start.name], resamples)
        ]
        scores = (*published, *bounded(findings, resamples))
        return Figures(scores, {"differences": as_json(apart), "text": text}, tuple(map(str, apart)), text, by_set=True)

    data = ("mrpc", "pan", "quora", "sts", "stsb", "sick", "senteval", "treebank")
    return Table(f"par/{name}", f"PAR's {title}", SIZES, rows_asked, measure, data, every_seed=True)
