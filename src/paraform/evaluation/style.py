"""Does the form survive: edit distances between tag sequences, and what a style vector finds."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Sequence
from dataclasses import asdict, dataclass
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray
from rapidfuzz.distance import Levenshtein
from rapidfuzz.process import cdist

from paraform.capabilities import Embed
from paraform.decoding import MOST_SEED
from paraform.evaluation.content import Vectors, content_matches, embed_unique, unit
from paraform.evaluation.metrics import row_mean
from paraform.evaluation.preparation import metric_words, same_length, words_signature
from paraform.evaluation.subsets import SETTING, subsets
from paraform.records import (
    InputError,
    counted,
    require_callable,
    require_count,
    require_kind,
    require_text,
    require_texts,
    several,
)
from paraform.score import Score, signature
from paraform.syntax.trees import Tree, tree_edit_distance, without_root

Tag: TypeAlias = Callable[[list[list[str]]], list[list[str]]]
Tags: TypeAlias = tuple[str, ...]


def tag_unique(tag: Tag, sentences: Sequence[Sequence[str]]) -> list[Tags]:
    """The tags of each sentence's words, each different sentence tagged once; () for a sentence without words.

    Raises: InputError if `tag` does not give one tag a word.
    """
    different = [list(words) for words in dict.fromkeys(tuple(words) for words in sentences) if words]
    tagged = tag(different) if different else []
    if [len(tags) for tags in tagged] != [len(words) for words in different]:
        raise InputError("tag gave other numbers of tags than words; expected one tag a word, in order")
    known = {tuple(words): tuple(tags) for words, tags in zip(different, tagged, strict=True)}
    return [known.get(tuple(words), ()) for words in sentences]


def edit_distances(outputs: Sequence[Tags], wanted: Sequence[Tags]) -> NDArray[np.int64]:
    """Levenshtein distance of each row's two tag sequences, [N], in tags inserted, dropped or replaced.

    The mean is ED-E if `wanted` are the exemplars' tags, ED-R if they are the references' (paper, section 4.5).
    """
    same_length(outputs=outputs, wanted=wanted)
    pairs = zip(outputs, wanted, strict=True)
    return np.array([Levenshtein.distance(first, second) for first, second in pairs], dtype=np.int64)


def tree_distance(one: Tree | None, other: Tree | None) -> int:
    """Tree edit distance of two sentences' trees without words and ROOT; None is a sentence that has none."""
    rooted = [Tree("ROOT", () if tree is None else without_root(tree)) for tree in (one, other)]
    return tree_edit_distance(rooted[0], rooted[1])


@dataclass(frozen=True, slots=True)
class Retrieved:
    """What one sentence's style vector finds (paper, Table 7).

    Args:
        sentences: nearest first.
        cosines: the cosine of each one's style vector with the query's.
        distances: the edit distance of each one's tags from the query's, in tags.
    """

    query: str
    sentences: tuple[str, ...]
    cosines: tuple[float, ...]
    distances: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Retrieval:
    """Lists of retrieved sentences, and the mean tag distance of all that was retrieved.

    Args:
        random: the same mean if sentences were drawn from the pool blindly (its expectation, so no draw is needed).
        nearest: the least it could be, had the tags themselves been searched.
    """

    lists: tuple[Retrieved, ...]
    distance: float
    random: float
    nearest: float


@dataclass(frozen=True, slots=True)
class StyleReport:
    """Content matching accuracy and retrieval by style vector, as scores and as lists to read."""

    scores: tuple[Score, ...]
    retrieved: tuple[Retrieved, ...]

    def to_json(self) -> dict[str, Any]:
        """A JSON object of all fields."""
        return {
            "scores": [score.to_json() for score in self.scores],
            "retrieved": [asdict(found) for found in self.retrieved],
        }


@dataclass(frozen=True)
class StyleSettings:
    """How vectors are measured.

    Args:
        name, tagger_name: how table and signatures call the system and `tag`.
        max_tokens: words of each text that count; None counts all.
        queries: sentences drawn at random under `seed` to retrieve for.
        top: sentences that are retrieved for each.
        seed: of that draw.
    Raises: InputError for what cannot be.
    """

    name: str = "model"
    max_tokens: int | None = 15
    queries: int = 200
    top: int = 5
    seed: int = 0
    tagger_name: str = "unnamed"

    def __post_init__(self) -> None:
        require_count(self.top, "top", 1)
        require_count(self.queries, "queries", 1)
        require_count(self.seed, "seed", 0, MOST_SEED)
        require_text(self.name, "name")
        require_text(self.tagger_name, "tagger_name")


class StylePool(NamedTuple):
    """What is retrieved from, and for.

    Args:
        texts: different sentences; tags, clusters: of each of them.
        queries: numbers of some of them; what shares a query's cluster, itself too, is never retrieved.
        top: sentences for each.
        signature: how words were made and tagged, and queries drawn.
    """

    texts: Sequence[str]
    tags: Sequence[Tags]
    clusters: Sequence[Hashable]
    queries: Sequence[int]
    top: int
    signature: str

    def retrieved(self, vectors_ND: Vectors) -> Retrieval:
        """For each query the sentences whose style vectors, one a text, have the largest cosine with its own.

        Raises: InputError if a query has fewer than `top` sentences to find, or lengths differ.
        """
        same_length(texts=self.texts, vectors=vectors_ND, tags=self.tags, clusters=self.clusters)
        units_ND, top = unit(vectors_ND), self.top
        letters = {
            name: chr(at + 1) for at, name in enumerate(dict.fromkeys(name for row in self.tags for name in row))
        }
        written = ["".join(letters[name] for name in row) for row in self.tags]
        numbers = {name: at for at, name in enumerate(dict.fromkeys(self.clusters))}
        cluster_N = np.array([numbers[name] for name in self.clusters])
        lists, random, nearest = [], [], []
        for query in self.queries:
            others = np.flatnonzero(cluster_N != cluster_N[query])
            if len(others) < top:
                came = counted(len(others), "sentence")
                raise InputError(f"{came} outside the query's cluster, too few pairs; expected at least top={top}")
            cosines = units_ND[others] @ units_ND[query]
            distances = cdist([written[query]], [written[at] for at in others], scorer=Levenshtein.distance)[0]
            best = np.argsort(-cosines, kind="stable")[:top]
            found = tuple(self.texts[at] for at in others[best])
            shown = (tuple(map(float, cosines[best])), tuple(map(int, distances[best])))
            lists.append(Retrieved(self.texts[query], found, *shown))
            random.append(distances.mean())
            nearest.append(np.sort(distances)[:top].mean())
        means = [float(np.mean(values)) for values in ([found.distances for found in lists], random, nearest)]
        return Retrieval(tuple(lists), *means)


def style_pool(texts: Sequence[str], clusters: Sequence[Hashable], tag: Tag, settings: StyleSettings) -> StylePool:
    """All different sentences that are not empty, tagged, and the queries that are drawn of them."""
    known = {text: cluster for text, cluster in zip(texts, clusters, strict=True) if text.strip()}
    tags = tag_unique(tag, metric_words(list(known), settings.max_tokens))
    chosen = np.random.default_rng(settings.seed).permutation(len(known))[: settings.queries].tolist()
    drawn = signature(similarity="cosine", top=settings.top, pool=len(known), queries=len(chosen), seed=settings.seed)
    words = words_signature(settings.max_tokens, tags=settings.tagger_name, average="rows")
    return StylePool(list(known), tags, list(known.values()), chosen, settings.top, f"{words}|{drawn}")


def evaluate_style(
    sources: Sequence[str],
    targets: Sequence[str],
    clusters: Sequence[int | None],
    *,
    content: Embed | None = None,
    style: Embed | None = None,
    tag: Tag | None = None,
    settings: StyleSettings | None = None,
) -> StyleReport:
    """CMA of the content vectors and what the style vectors retrieve, with chance beside each.

    CMA is given by dot product (the paper) and by cosine (the authors' code), and for each with any target of the
    source's cluster right, and strictly, by eq. 13's letter. Retrieval is over all different sentences.

    Args:
        sources, targets, clusters: texts, paraphrases and clusters, one a row.
        content, style: a system's embedders; None leaves out the metrics of that one.
        tag: needed with `style`.
        settings: None: `StyleSettings()`.
    Raises: InputError if a row has no cluster.
    """
    sources, targets, clusters = require_texts(sources), require_texts(targets), list(several(clusters, "clusters"))
    for said, call in (("content", content), ("style", style), ("tag", tag)):
        if call is not None:
            require_callable(call, said)
    settings = StyleSettings() if settings is None else settings
    require_kind(settings, StyleSettings, "settings")
    name, max_tokens = settings.name, settings.max_tokens
    same_length(sources=sources, targets=targets, clusters=clusters)
    if not all(isinstance(cluster, Hashable) for cluster in clusters):
        raise InputError("a cluster that is no number; number them: corpora.clusters(pairs)")
    if None in clusters:
        number = clusters.index(None) + 1
        raise InputError(f"row {number} has no cluster; number them first: corpora.clusters(pairs)")
    scores: list[Score] = []
    retrieved: tuple[Retrieved, ...] = ()
    if content is not None:
        scores += _matching_scores(sources, targets, clusters, content, max_tokens, name)
    if style is not None:
        if tag is None:
            raise InputError("style without tag; call evaluate_style(…, style=model.style, tag=load_tagger())")
        pool = style_pool([*sources, *targets], [*clusters, *clusters], tag, settings)
        found = pool.retrieved(embed_unique(style, pool.texts))
        systems = {name: found.distance, "random": found.random, "nearest tags": found.nearest}
        scores += [Score("style retrieval ED", value, pool.signature, system) for system, value in systems.items()]
        retrieved = found.lists
    return StyleReport(tuple(scores), retrieved)


def _matching_scores(
    sources: Sequence[str],
    targets: Sequence[str],
    clusters: Sequence[Hashable],
    content: Embed,
    max_tokens: int | None,
    name: str,
) -> list[Score]:
    vectors = embed_unique(content, [*sources, *targets])
    content_A, content_B = vectors[: len(sources)], vectors[len(sources) :]
    parts = subsets(metric_words(sources, max_tokens), metric_words(targets, max_tokens))
    sizes = Counter(clusters)
    chances = {"any of cluster": np.array([sizes[cluster] / len(targets) for cluster in clusters])}
    chances["own row"] = np.full(len(targets), 1 / len(targets))
    scores = []
    for right, chance in chances.items():
        for similarity in ("dot", "cosine"):
            given = clusters if right == "any of cluster" else None
            hits = content_matches(content_A, content_B, given, similarity=similarity)
            title = f"CMA ({similarity}{'' if given else ', strict'})"
            settings = signature(similarity=similarity, right=right, targets=len(targets), thirds=SETTING)
            for system, values in {name: hits, "random": chance}.items():
                metric = row_mean(title, values, settings, digits=3)
                scores += [metric.score(chosen, system=system, subset=part) for part, chosen in parts.items()]
    return scores
