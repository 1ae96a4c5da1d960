"""Is a sentence's paraphrase the nearest of all: recall at 1 and 5, and the mean reciprocal rank.

Shape key: N pairs, Q queries, P texts of the pool.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import ClassVar, final

import numpy as np
from numpy.typing import NDArray

from paraform.corpora import clusters
from paraform.corpora.leaks import normalised
from paraform.evaluation.embedding.space import Space
from paraform.evaluation.embedding.task import Finding, signed_finding
from paraform.evaluation.metrics import row_mean
from paraform.evaluation.preparation import metric_words
from paraform.evaluation.subsets import SETTING, THIRDS, subsets
from paraform.records import InputError, Pair, Sentence, counted
from paraform.score import signature

BLOCK = 512  # queries whose similarities to the pool are held at once
LEAST = THIRDS[0]
WRONG = "other clusters, ties before"

METRICS: Mapping[str, str] = {
    name: signature(unit="percent", wrong=WRONG, thirds=SETTING) for name in ("R@1", "R@5", "MRR")
}
"""The settings of each metric that no set and no space has a part in."""


@final
@dataclass(frozen=True, eq=False)
class RetrievalSet:
    """Each pair's source is asked for its target among all sentences of the pairs; a `Task`.

    The source itself and the other members of its cluster (`clustered`) are left out: they are neither right nor wrong,
    so that a target in other words is not answered for by a nearer one in the same words. A wrong sentence as near as
    the target counts as nearer.

    Args:
        pairs: paraphrases, with their clusters; make a set of any pairs with `retrieval_set`.
    """

    needs_vectors: ClassVar[bool] = False

    name: str
    pairs: Sequence[Pair]

    @cached_property
    def pool(self) -> dict[str, int]:
        """Every different sentence, and its cluster."""
        return {text.text: cluster_of(pair) for pair in self.pairs for text in (pair.source, pair.target)}

    @property
    def settings(self) -> str:
        """What its metrics' signatures say of the set."""
        return signature(queries=len(self.pairs), pool=len(self.pool))

    def texts(self) -> list[str]:
        """All sentences."""
        return list(self.pool)

    def measure(self, space: Space) -> list[Finding]:
        """Recall at 1 and 5 and MRR, of all pairs and of the third whose two sentences share the fewest words."""
        ranks_N = self.ranks(space)
        sides = [[pair.source.text for pair in self.pairs], [pair.target.text for pair in self.pairs]]
        parts = subsets(*(metric_words(side, None) for side in sides))
        values = {"R@1": ranks_N <= 1, "R@5": ranks_N <= 5, "MRR": 1 / ranks_N}
        findings = []
        for part in ("all", LEAST):
            subset = self.name if part == "all" else f"{self.name}, {part}"
            for name, values_N in values.items():
                settings = f"{METRICS[name]}|{self.settings}"
                metric = row_mean(name, 100 * values_N[parts[part]], settings, digits=1)
                findings.append(signed_finding(metric, space, subset))
        return findings

    def limited(self, most: int) -> RetrievalSet:
        """So many pairs."""
        return replace(self, pairs=self.pairs[:most])

    def ranks(self, space: Space) -> NDArray[np.int64]:
        """The place of each pair's target, 1 the nearest, [N]."""
        texts = list(self.pool)
        place = {text: at for at, text in enumerate(texts)}
        clusters_P = np.array(list(self.pool.values()))
        ranks = []
        for start in range(0, len(self.pairs), BLOCK):
            part = self.pairs[start : start + BLOCK]
            near_QP = space.block([pair.source.text for pair in part], texts)
            target_Q = near_QP[np.arange(len(part)), [place[pair.target.text] for pair in part]]
            wrong_QP = clusters_P != np.array([[cluster_of(pair)] for pair in part])
            ranks.append(1 + (wrong_QP & (near_QP >= target_Q[:, None])).sum(axis=1))
        return np.concatenate(ranks).astype(np.int64)


def retrieval_set(name: str, pairs: Sequence[Pair]) -> RetrievalSet:
    """The set of those pairs that are paraphrases; pairs of one sentence with itself are left out.

    Raises: InputError if there is none, or all are of one cluster, beside which there is nothing to find.
    """
    kept = [pair for pair in clustered(pairs) if pair.label != 0 and pair.source.text != pair.target.text]
    if len({pair.cluster for pair in kept}) < 2:
        place = next((pair.origin for pair in pairs if pair.origin), name)
        came = f"{counted(len(kept), 'pair')} of paraphrases, all of one cluster"
        came = came if kept else "no paraphrases but sentences with themselves"
        raise InputError(f"{place}: {came}; expected two clusters or more, to find a sentence among others")
    return RetrievalSet(name, kept)


def clustered(pairs: Sequence[Pair]) -> list[Pair]:
    """The pairs with their clusters, in which texts are one that `corpora.leaks.normalised` does not tell apart.

    Corpora have a text as it was typed and tokenised, and who finds one for the other is not wrong. C is not C++.
    """
    plain = [Pair(_plain(pair.source), _plain(pair.target), pair.label) for pair in pairs]
    return [replace(pair, cluster=found.cluster) for pair, found in zip(pairs, clusters(plain), strict=True)]


def _plain(sentence: Sentence) -> Sentence:
    return Sentence(normalised(sentence.text))


def cluster_of(pair: Pair) -> int:
    """The cluster that the pair has. Raises: InputError if it has none."""
    if pair.cluster is None:
        raise InputError("a pair without a cluster; call retrieval_set(name, pairs), or clustered(pairs) first")
    return pair.cluster
