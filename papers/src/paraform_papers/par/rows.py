"""The rows of PAR's tables, each trained in a folder of its own that is kept, and measured beside the encoder as it
comes."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from paraform import checkpoint, corpora
from paraform.corpora.labelled_pairs import read_labelled_pairs
from paraform.encoders import Encoder, parse_name
from paraform.encoders.types import WordStates
from paraform.evaluation.embedding.distances import WordsToStates, WordSystem, word_system
from paraform.evaluation.embedding.measuring import System, bounded, differences_of, system_of
from paraform.evaluation.embedding.task import Finding
from paraform.models.disentangled import DisentangledConfig
from paraform.models.retrofit import RetrofittedEncoder
from paraform.records import Pair, texts_of
from paraform.score import Score
from paraform.trainers.disentangled import BY_MRR, train_disentangled
from paraform.trainers.retrofit import BY_ACCURACY, BY_RATIO, train_retrofit
from paraform_papers.par.configs import ROWS, SIZES, Config, Corpus, config_of, pairs_of_row, rows_of
from paraform_papers.rows import ENCODER, Row, loaded
from paraform_papers.shipped.depth import mean_layer_embed
from paraform_papers.tables import Asked, Figures, Scale, Table, as_json
from paraform_papers.vectors_on_disk import kept

FILES: dict[Corpus, str] = {
    "mrpc": "mrpc/msr_paraphrase_train.txt",
    "pan": "pan/pan-train.labels",
    "quora": "quora/train.tsv",
}
TOP, MEAN = "top layer", "mean of layers"  # of the scale's encoder as it comes: the paper's two baselines


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
    retrofit = BY_ACCURACY if ROWS[name][2] in ("paper", "paper, adam", "reference") else BY_RATIO
    loop = BY_MRR if isinstance(config, DisentangledConfig) else retrofit
    loop = replace(loop, seed=asked.seed, evaluate_every=every, checkpoint_every=every, device=asked.trained_on)
    if isinstance(config, DisentangledConfig):
        same = [pair for pair in pairs if pair.label != 0]
        train_disentangled(same, folder, config=config, loop=loop, resume=True).require_over()
        checkpoint.load(str(folder), device=asked.device).export(folder / ENCODER)  # which has states of words
    else:
        train_retrofit(pairs, folder, config=config, loop=loop, resume=True).require_over()


@dataclass(frozen=True)
class Model:
    """A row, or the encoder as it comes, as it is measured.

    Args:
        row: None: the encoder as it comes.
        mean: whether its words and sentences are means of all layers, as those that it was trained by.
        start: what it started from, measured likewise; None: it is that.
    """

    name: str
    model: Any
    row: str | None
    mean: bool
    start: Model | None = None

    @property
    def behind(self) -> bool:
        """Whether M stands behind the encoder, so that what it started from was read already."""
        return isinstance(self.model, RetrofittedEncoder) and self.model.config.place == "after"

    @cached_property
    def own_words(self) -> WordsToStates:
        """Words to states, each sentence read once."""
        found = word_system(self.name, self.model, layers="mean" if self.mean else "own").words
        known: dict[tuple[str, ...], Tensor] = {}

        def words(sentences: Sequence[Sequence[str]]) -> WordStates:
            new = [words for words in dict.fromkeys(map(tuple, sentences)) if words not in known]
            if new:
                states_NLD, offsets = found(new)
                parts = zip(new, offsets[:-1].tolist(), offsets[1:].tolist(), strict=True)
                known.update({words: states_NLD[begin:end].float() for words, begin, end in parts})
            rows = [known[tuple(words)] for words in sentences]
            return WordStates(torch.cat(rows), np.concatenate([[0], np.cumsum([len(row) for row in rows])]))

        return words

    def words(self) -> WordSystem:
        """As distances of words are measured."""
        system = word_system(self.name, self.model, layers="mean" if self.mean else "own")
        if not self.behind or self.start is None:
            return system._replace(words=self.own_words)
        read, matrix = self.start.own_words, self.model.matrix

        def words(sentences: Sequence[Sequence[str]]) -> WordStates:
            found = read(sentences)
            return found._replace(states_NLD=found.states_NLD @ matrix.T)

        return system._replace(words=words)

    def sentences(self, folder: Path) -> System:
        """As sentence vectors are measured; these are kept in a folder."""
        system = system_of(self.name, self.model)
        if self.mean:
            about = f"{system.signature}|layers:0 to {self.model.num_layers}, mean"
            encoder = self.model if isinstance(self.model, Encoder) else self.model.encoder
            system = System(self.name, about, mean_layer_embed(encoder))
        if not self.behind or self.start is None:
            return system._replace(embed=kept(system.embed, system.signature, folder))
        means = kept(self.model.means, f"{self.start.sentences(folder).signature}|as they are", folder)

        def embed(texts: Sequence[str]) -> NDArray[np.float32]:
            vectors_ND: NDArray[np.float32] = self.model.vectors_of(torch.from_numpy(means(texts))).cpu().numpy()
            return vectors_ND

        return system._replace(embed=embed)


def models_of(asked: Asked, rows: Sequence[Row]) -> list[Model]:
    """Each encoder as it comes, its own layer and the mean of all, and the trained rows."""
    scale_s = SIZES[asked.scale].encoder
    starts: dict[tuple[str, bool], Model] = {}
    for encoder in dict.fromkeys([*(row.config.encoder for row in rows), *([] if rows else [scale_s])]):
        name, variant = parse_name(encoder)
        own = TOP if variant.layer is None else f"layer {variant.layer}"
        of = "" if encoder == scale_s else f"{name}, "
        model = checkpoint.load(encoder, device=asked.device)
        starts[encoder, False] = Model(f"{of}{own}", model, None, False)
        if variant.layer is None:
            starts[encoder, True] = Model(f"{of}{MEAN}", model, None, True)
    models = list(starts.values())
    for row in rows:
        mean = getattr(row.config, "states", "last") == "all"
        start = starts[row.config.encoder, mean]
        models.append(Model(row.label, loaded(row, asked.device), row.name, mean, start))
    return models


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
