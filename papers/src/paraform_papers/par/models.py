"""What PAR's tables measure: encoders as they come, and with the M of a row, their words and their sentences.

Behind an encoder M maps what was read of it already, so that a further row costs nothing to read.
"""

from __future__ import annotations

import gc
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from paraform import checkpoint
from paraform.encoders import Encoder, parse_name
from paraform.encoders.types import WordStates
from paraform.evaluation.embedding.distances import WordsToStates, WordSystem, word_system
from paraform.evaluation.embedding.measuring import System, system_of
from paraform.models.retrofit import RetrofittedEncoder
from paraform_papers.par.configs import SIZES
from paraform_papers.rows import Row, loaded
from paraform_papers.shipped.depth import mean_layer_embed
from paraform_papers.tables import Asked
from paraform_papers.vectors_on_disk import kept

TOP, MEAN = "top layer", "mean of layers"  # of the scale's encoder as it comes: the paper's two baselines


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
    behind: dict[str, Any] = {}  # of each encoder one for all rows: a language model's weights are half a gigabyte
    for row in rows:
        mean = getattr(row.config, "states", "last") == "all"
        start = starts[row.config.encoder, mean]
        model = loaded(row, asked.device)
        if isinstance(model, RetrofittedEncoder) and model.config.place == "after":
            model.frozen = model.network.frozen = behind.setdefault(row.config.encoder, model.frozen)
            gc.collect()  # lets go of its own copy at once: modules of transformers refer to themselves
        models.append(Model(row.label, model, row.name, mean, start))
    return models
