"""Content matching and style retrieval (CRL-EGPG, section 4.5) of any space, as tasks beside the others.

Shape key: Q queries, P targets or sentences of a pool.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import ClassVar, final

import numpy as np
from numpy.typing import NDArray

from paraform.corpora import clusters, read_pairs
from paraform.evaluation.content import BLOCK
from paraform.evaluation.embedding.retrieval import LEAST, cluster_of
from paraform.evaluation.embedding.space import Space, VectorSpace
from paraform.evaluation.embedding.task import Choices, Family, Finding, Headline, Task, signed_finding
from paraform.evaluation.metrics import row_mean
from paraform.evaluation.on_pairs import tagger_name
from paraform.evaluation.preparation import metric_words
from paraform.evaluation.style import StylePool, StyleSettings, style_pool
from paraform.evaluation.subsets import SETTING, subsets
from paraform.records import InputError, Pair, texts_of
from paraform.score import Score, signature
from paraform.syntax.tagging import load_tagger


@final
@dataclass(frozen=True, eq=False, slots=True)
class ContentMatching:
    """CMA: is the nearest of all targets one of the source's own cluster; a `Task`.

    By cosine, as `evaluate style` has it under "CMA (cosine)"; a space without vectors is asked by its own similarity.

    Args:
        pairs: with their clusters.
    """

    needs_vectors: ClassVar[bool] = False

    name: str
    pairs: Sequence[Pair]

    def texts(self) -> list[str]:
        """All sources and targets."""
        return texts_of(self.pairs)

    def measure(self, space: Space) -> list[Finding]:
        """CMA and chance, of all pairs and of the third whose two sentences share the fewest words."""
        sources, targets = [pair.source.text for pair in self.pairs], [pair.target.text for pair in self.pairs]
        parts = subsets(metric_words(sources), metric_words(targets))
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
            findings.append(Finding(chance.score(system=space.name, subset=subset), reference=True))
        return findings

    def limited(self, most: int) -> ContentMatching:
        """So many pairs."""
        return replace(self, pairs=self.pairs[:most])

    def _nearest(self, space: Space, sources: Sequence[str], targets: Sequence[str]) -> NDArray[np.int64]:
        blocks = [
            space.block(sources[start : start + BLOCK], targets).argmax(axis=1)
            for start in range(0, len(sources), BLOCK)
        ]
        return np.concatenate(blocks).astype(np.int64)


@final
@dataclass(frozen=True, eq=False, slots=True)
class StyleRetrieval:
    """How far the tags of the nearest sentences of other clusters are from the query's; a `Task`."""

    needs_vectors: ClassVar[bool] = True

    name: str
    pool: StylePool

    def texts(self) -> list[str]:
        """The pool."""
        return list(self.pool.texts)

    def measure(self, space: Space) -> list[Finding]:
        """The mean edit distance of what is retrieved, of what blind draws would give, and the least there could be.

        Raises: InputError if the space has no vectors.
        """
        if not isinstance(space, VectorSpace):
            raise InputError(f"{self.name}: {space.name} has no vectors; expected some to retrieve by")
        found = self.pool.retrieved(space.vectors(self.pool.texts))
        means = np.array([float(np.mean(one.distances)) for one in found.lists])
        findings = [signed_finding(row_mean("style retrieval ED", means, self.pool.signature), space, self.name)]
        for name, value in (("random", found.random), ("nearest tags", found.nearest)):
            score = Score(name, value, self.pool.signature, space.name, subset=self.name)
            findings.append(Finding(score, reference=True))
        return findings

    def limited(self, most: int) -> StyleRetrieval:
        """So many queries."""
        return replace(self, pool=self.pool._replace(queries=self.pool.queries[:most]))


def style_retrieval(
    name: str, pairs: Sequence[Pair], *, tagger: str, queries: int = 200, seed: int = 0
) -> StyleRetrieval:
    """The task of all different sentences of pairs with clusters, tagged by a tagger that `load_tagger` knows."""
    # In the order of `evaluate_style`, which draws the same queries by it.
    texts = [pair.source.text for pair in pairs] + [pair.target.text for pair in pairs]
    clusters_P = [cluster_of(pair) for pair in pairs]
    settings = StyleSettings(queries=queries, seed=seed, tagger_name=tagger_name(tagger))
    return StyleRetrieval(name, style_pool(texts, [*clusters_P, *clusters_P], load_tagger(tagger), settings))


QUORA = ("quora", "test.tsv")
"""The folder and the file that both are measured on in a report."""


def _find(folder: Path) -> Path | None:
    return next((file for file in sorted(folder.rglob(QUORA[1])) if file.parent.name.lower() == QUORA[0]), None)


def _read(place: Path, choices: Choices) -> list[Task]:
    pairs = clusters(pair for pair in read_pairs(place) if isinstance(pair, Pair))
    tagged = style_retrieval("Quora", pairs, tagger=choices.tagger, seed=choices.seed)
    return [ContentMatching("Quora", pairs), tagged]


FAMILIES = (
    Family(
        name="style",
        title="Content matching and style retrieval",
        about="CMA: the nearest target is a paraphrase, in percent. Style: tags between a query and what its vector"
        " retrieves; fewer is nearer in form.",
        headlines=(
            Headline("CMA (cosine)", ("chance",)),
            Headline("style retrieval ED", ("random", "nearest tags"), lower=True),
        ),
        expected="/".join(QUORA),
        find=_find,
        read=_read,
        command="evaluate style",
        options=lambda tasks, choices: choices.typed("tagger", "seed"),
        side_by_side=False,
        resampled=False,
    ),
)
