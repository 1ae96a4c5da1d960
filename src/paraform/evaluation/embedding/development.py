"""What chooses encoders: development sets of meaning, and of who did what to whom. No test set has a part in it.

The mean of four metrics in percent, or of those whose set is there: Pearson of cosines on the development parts of the
STS Benchmark and of SICK; ROC AUC on one half of PAWS, whose negatives have the same words; MRR on Quora's.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar, NamedTuple, final

import numpy as np

from paraform.capabilities import Embedder
from paraform.corpora.components import components
from paraform.corpora.labelled_pairs import read_labelled_pairs, require_both_labels
from paraform.corpora.leaks import normalised
from paraform.evaluation.embedding.detection import roc_auc, similarities
from paraform.evaluation.embedding.retrieval import retrieval_set
from paraform.evaluation.embedding.similarity import FILES, similarity_set, similarity_splits
from paraform.evaluation.embedding.space import Space, embedded
from paraform.evaluation.embedding.task import Finding, Task, signed_finding
from paraform.records import InputError, Pair, texts_of
from paraform.weights import PathLike

PAWS, QUORA = "paws/dev.tsv", "quora/dev.tsv"
MEAN = "development"


class Halves(NamedTuple):
    """Pairs that choose, and pairs of other sentences that are kept for tables."""

    choosing: list[Pair]
    reporting: list[Pair]


@final
@dataclass(frozen=True, eq=False)
class OrderSet:
    """Pairs labelled 1 or 0, told apart by their similarity, whatever the threshold; a `Task`."""

    needs_vectors: ClassVar[bool] = False

    name: str
    pairs: Sequence[Pair]

    def texts(self) -> list[str]:
        """Both sentences of every pair."""
        return texts_of(self.pairs)

    def measure(self, space: Space) -> list[Finding]:
        """The area under the ROC curve."""
        return [signed_finding(roc_auc(*similarities(space, self.pairs)), space, self.name)]

    def limited(self, most: int) -> OrderSet:
        """All its pairs: AUC trains nothing."""
        return self


@final
@dataclass(frozen=True, eq=False)
class Development:
    """Development sets, and a model's metrics on them; make one with `read_development`.

    Args:
        sets: each with the name of its metric; the first of that name counts.
    """

    sets: Sequence[tuple[Task, str]]

    def texts(self) -> list[str]:
        """All sentences, each once."""
        return list(dict.fromkeys(text for task, _ in self.sets for text in task.texts()))

    def __call__(self, model: Embedder) -> dict[str, float]:
        """Each set's metric, by the set's name, and their mean, `development`; in percent."""
        space = embedded(model.embed, self.texts(), name=MEAN, signature=MEAN)
        found = {}
        for task, name in self.sets:
            found[task.name] = next(one.score.value for one in task.measure(space) if one.score.name == name)
        return {**found, MEAN: float(np.mean(list(found.values())))}


def read_development(folder: PathLike) -> Development:
    """The development sets below a folder: the STS Benchmark's and SICK's parts, `paws/dev.tsv`, `quora/dev.tsv`.

    Raises: InputError if there is none of them, or one cannot be used.
    """
    sets: list[tuple[Task, str]] = []
    for name, parts in similarity_splits(folder).items():
        sets.append((similarity_set(f"{name} dev", {name: parts.dev}, folder), "Pearson"))
    paws, quora = Path(folder) / PAWS, Path(folder) / QUORA
    if paws.is_file():
        sets.append((OrderSet("PAWS dev, choosing half", paws_halves(paws).choosing), "AUC"))
    if quora.is_file():
        sets.append((retrieval_set("Quora dev", list(read_labelled_pairs(quora))), "MRR"))
    if not sets:
        known = ", ".join((*(file for kinds in FILES.values() for _, file, _ in kinds), PAWS, QUORA))
        raise InputError(f"{folder}: no development set; expected some of {known} in it")
    return Development(sets)


def paws_halves(path: PathLike) -> Halves:
    """The labelled pairs of a file by connected component, whatever the labels: no sentence stands in both halves.

    A component's half is drawn by a hash of its first sentence in the order of letters, so that the order of the file
    changes nothing.

    Raises: InputError if a half has not pairs of both labels.
    """
    pairs = list(read_labelled_pairs(path))
    nodes: dict[str, int] = {}
    sides = [(normalised(pair.source.text), normalised(pair.target.text)) for pair in pairs]
    ends = [(nodes.setdefault(one, len(nodes)), nodes.setdefault(other, len(nodes))) for one, other in sides]
    roots = components(len(nodes), ends)
    first: dict[int, str] = {}
    for text, node in nodes.items():
        first[roots[node]] = min(first.get(roots[node], text), text)
    halves = Halves([], [])
    for pair, (node, _) in zip(pairs, ends, strict=True):
        halves[hashlib.sha256(first[roots[node]].encode()).digest()[0] % 2].append(pair)
    for half in halves:
        require_both_labels(half, path)
    return halves
