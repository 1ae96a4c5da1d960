"""Content matching and style retrieval (CRL-EGPG, section 4.5) of any space, as tasks beside the others.

Shape key: Q queries, P targets or sentences of a pool.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, final

import numpy as np
from numpy.typing import NDArray

from paraform.evaluation.content import BLOCK
from paraform.evaluation.embedding.detection import signed_finding
from paraform.evaluation.embedding.retrieval import LEAST, cluster_of
from paraform.evaluation.embedding.space import Space, VectorSpace
from paraform.evaluation.embedding.task import Finding
from paraform.evaluation.figures import row_mean
from paraform.evaluation.on_pairs import tagger_name
from paraform.evaluation.preparation import metric_words
from paraform.evaluation.style import Tags, edit_signature, retrieve_by_style, tag_unique
from paraform.evaluation.subsets import SETTING, subsets
from paraform.records import InputError, Pair
from paraform.score import Score, signature
from paraform.syntax.tagging import load_tagger


@final
@dataclass(frozen=True, eq=False, slots=True)
class ContentMatching:
    """CMA: is the nearest of all targets one of the source's own cluster; a `Task`.

    By cosine, as `evaluate style` has it under "CMA (cosine)"; a space without vectors is asked by its own similarity.

    Args:
        pairs: with their clusters.
        max_tokens: words of each sentence by which the thirds of overlap are told.
    """

    needs_vectors: ClassVar[bool] = False

    name: str
    pairs: Sequence[Pair]
    max_tokens: int | None = 15

    def texts(self) -> list[str]:
        """All sources and targets."""
        return [side.text for pair in self.pairs for side in (pair.source, pair.target)]

    def measure(self, space: Space) -> list[Finding]:
        """CMA and chance, of all pairs and of the third whose two sentences share the fewest words."""
        sources, targets = [pair.source.text for pair in self.pairs], [pair.target.text for pair in self.pairs]
        parts = subsets(metric_words(sources, self.max_tokens), metric_words(targets, self.max_tokens))
        clusters_P = np.array([cluster_of(pair) for pair in self.pairs])
        found_Q = self._nearest(space, sources, targets)
        sizes = Counter(clusters_P.tolist())
        chance_Q = np.array([sizes[cluster] / len(targets) for cluster in clusters_P.tolist()])
        settings = signature(
            unit="percent", similarity="cosine", right="any of cluster", targets=len(targets), thirds=SETTING
        )
        findings = []
        for part in ("all", LEAST):
            subset = self.name if part == "all" else f"{self.name}, {part}"
            hits = (clusters_P[found_Q] == clusters_P)[parts[part]]
            findings.append(signed_finding(row_mean("CMA (cosine)", 100 * hits, settings, digits=1), space, subset))
            chance = row_mean("chance", 100 * chance_Q[parts[part]], settings, digits=1)
            findings.append(Finding(chance.score(system=space.name, subset=subset)))
        return findings

    def _nearest(self, space: Space, sources: Sequence[str], targets: Sequence[str]) -> NDArray[np.int64]:
        blocks = [
            space.block(sources[start : start + BLOCK], targets).argmax(axis=1)
            for start in range(0, len(sources), BLOCK)
        ]
        return np.concatenate(blocks).astype(np.int64)


@final
@dataclass(frozen=True, eq=False, slots=True)
class StyleRetrieval:
    """How far the tags of the nearest sentences of other clusters are from the query's; a `Task`.

    Args:
        pool: different sentences.
        tags, clusters: of each of them.
        queries: numbers of sentences in the pool.
        settings: how words were made and tagged, and queries drawn, for the signatures.
    """

    needs_vectors: ClassVar[bool] = True

    name: str
    pool: Sequence[str]
    tags: Sequence[Tags]
    clusters: Sequence[int]
    queries: Sequence[int]
    settings: str
    top: int = 5

    def texts(self) -> list[str]:
        """The pool."""
        return list(self.pool)

    def measure(self, space: Space) -> list[Finding]:
        """The mean edit distance of what is retrieved, of what blind draws would give, and the least there could be.

        Raises: InputError if the space has no vectors.
        """
        if not isinstance(space, VectorSpace):
            raise InputError(f"{self.name}: {space.name} has no vectors; expected some to retrieve by")
        found = retrieve_by_style(
            self.pool, space.vectors(self.pool), self.tags, self.clusters, self.queries, top=self.top
        )
        means = [float(np.mean(one.distances)) for one in found.lists]
        figure = row_mean("style retrieval ED", np.array(means), self.settings)
        findings = [signed_finding(figure, space, self.name)]
        for name, value in (("random", found.random), ("nearest tags", found.nearest)):
            findings.append(Finding(Score(name, value, self.settings, space.name, subset=self.name)))
        return findings


def style_retrieval(
    name: str,
    pairs: Sequence[Pair],
    *,
    tagger: str,
    max_tokens: int | None = 15,
    queries: int = 200,
    top: int = 5,
    seed: int = 0,
) -> StyleRetrieval:
    """The task of all different sentences of pairs with clusters, tagged by a tagger that `load_tagger` knows."""
    # In the order of `evaluate_style`, which draws the same queries by it.
    sides = [(pair.source, pair) for pair in pairs] + [(pair.target, pair) for pair in pairs]
    known = {side.text: cluster_of(pair) for side, pair in sides if side.text.strip()}
    pool = list(known)
    tags = tag_unique(load_tagger(tagger), metric_words(pool, max_tokens))
    chosen = np.random.default_rng(seed).permutation(len(pool))[:queries].tolist()
    drawn = signature(similarity="cosine", top=top, pool=len(pool), queries=len(chosen), seed=seed)
    settings = f"{edit_signature(max_tokens, tagger_name(tagger))}|{drawn}"
    return StyleRetrieval(name, pool, tags, list(known.values()), chosen, settings, top)
