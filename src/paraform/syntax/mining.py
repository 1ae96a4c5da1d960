"""The exemplars of a corpus of pairs, searched in the corpus itself.

Shape key: N pairs, K exemplars kept for each.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

import numpy as np
import torch
from numpy.typing import NDArray

from paraform.records import InputError, Pair, Sentence, Triple, require_records
from paraform.syntax.annotation import annotate
from paraform.syntax.rules import MiningConfig
from paraform.syntax.running import DEFAULT
from paraform.weights import cached_file, load_tensors, save_tensors

if TYPE_CHECKING:
    from paraform.syntax.exemplars import ExemplarIndex, Nearest

LOOKED_AT = 20  # targets of which `why_none` looks at every sentence of the pool


@dataclass(frozen=True)
class Mined:
    """The exemplars of N pairs.

    Args:
        pairs: N.
        pool: the sentences searched.
        exemplars: [N, K] int32, numbers into `pool`, nearest first; −1 where there is none.
        distances: [N, K] int32, edit distance between the tags of exemplar and target; −1 where there is none.
    """

    pairs: Sequence[Pair]
    pool: Sequence[Sentence]
    exemplars: NDArray[np.int32]
    distances: NDArray[np.int32]

    def triples(self) -> Iterator[Triple]:
        """One triple for each exemplar kept, in the order of pairs; none for a pair without exemplars."""
        for pair, exemplars, distances in zip(self.pairs, self.exemplars, self.distances, strict=True):
            for exemplar, distance in zip(exemplars, distances, strict=True):
                if exemplar >= 0:
                    sentence = self.pool[exemplar]
                    yield Triple(pair.source, sentence, pair.target, int(distance), pair.cluster, pair.origin)


Search: TypeAlias = "Callable[[ExemplarIndex, Sequence[Pair], Sequence[int], MiningConfig], Nearest]"
"""(an index, pairs, their places, the rules) → the exemplars of the pairs' targets."""


def mine(
    pairs: Sequence[Pair],
    config: MiningConfig | None = None,
    *,
    search: Search | None = None,
    threads: int | None = None,
    progress: Callable[[int], None] | None = None,
) -> Mined:
    """The exemplars of every pair's target, searched in the pairs themselves: `for triple in mine(pairs).triples()`.

    Args:
        pairs: N, one split of a corpus; targets, and sources too if they are the pool, tokenised and tagged.
        config: the rules; `MiningConfig()` if None.
        search: a function that searches each pool; None: this process.
        threads, progress: arguments of `ExemplarIndex.nearest_rows`; a `search` is not told of them.
    Raises: InputError if there is no pair, a sentence has not one tag a token, `exclude_cluster` is on and a pair has
        no cluster (nothing would be excluded, silently), or numba is not installed.
    Source: Yang et al. 2022 (CRL-EGPG), appendix A, Algorithm 1.
    """
    from paraform.syntax.exemplars import ExemplarIndex  # what reads mined exemplars does without a compiler
    from paraform.syntax.rows import check_tagged

    config = MiningConfig() if config is None else config
    require_records([config], MiningConfig)
    pairs = require_records(pairs, Pair)
    clusters = [pair.cluster for pair in pairs]
    if config.exclude_cluster and None in clusters:
        raise InputError(
            f"pair {clusters.index(None)} has no cluster; call mine(corpora.clusters(pairs)) "
            "or mine(pairs, MiningConfig(exclude_cluster=False))"
        )
    if config.exclude_cluster and any(pair.label == 0 for pair in pairs):
        raise InputError("a pair is labelled 0: its sentences would count as paraphrases; leave such pairs out")
    if pairs:  # of a pool of M nobody has more, and room for as many as were asked for may be more than there is
        config = replace(config, keep=min(config.keep, len(pairs)))
    targets = [pair.target for pair in pairs]
    sources = [pair.source for pair in pairs]
    pool = targets if config.pool == "targets" else sources
    for number, target in enumerate(targets):
        check_tagged(target, number)  # here, so that numbers are the file's, not a pool's
    exemplars = np.full((len(pairs), config.keep), -1, np.int32)
    distances = exemplars.copy()
    for rows in dealt_pools(len(pairs), config):
        index = ExemplarIndex.build([pool[row] for row in rows], [clusters[row] for row in rows])
        if search:
            found = search(index, [pairs[row] for row in rows], rows, config)
        else:
            found = index.nearest_rows(
                None if pool is targets else [targets[row] for row in rows],  # what is indexed is encoded already
                config,
                sources=[sources[row] for row in rows],
                clusters=[clusters[row] for row in rows],
                rows=rows,
                threads=threads,
                progress=progress,
            )
        exemplars[rows] = np.where(found.rows < 0, -1, np.array(rows)[found.rows])
        distances[rows] = found.distances
    return Mined(pairs, pool, exemplars, distances)


def mined_exemplars(
    pairs: Sequence[Pair],
    config: MiningConfig,
    max_tokens: int,
    *,
    tagger: str = DEFAULT,
    cache: Path | None = None,
    progress: bool = False,
) -> Mined:
    """`mine` for pairs that are not tagged yet; tags and exemplars are kept on disk by content.

    Args:
        pairs: M, with clusters.
        max_tokens: words kept of each sentence.
        tagger: a name that `load_tagger` knows.
        cache: folder of all caches; None: `weights.cache_folder()`.
        progress: say on stderr how far it is while sentences are tagged.
    """
    wanted = [pair.target.text for pair in pairs]
    if config.pool == "sources":
        wanted += [pair.source.text for pair in pairs]
    found = annotate(wanted, tagger=tagger, max_tokens=max_tokens, lower=True, cache=cache, progress=progress)
    tagged = dict(zip(wanted, found, strict=True))
    full = [
        replace(pair, source=tagged.get(pair.source.text, pair.source), target=tagged[pair.target.text])
        for pair in pairs
    ]
    content = (repr((pair.source.text, pair.target.tokens, pair.target.tags, pair.cluster)) for pair in full)
    # "drawn by hash": ties of the same seed were drawn otherwise before, and what is kept of that must not be taken.
    path = cached_file("exemplars", ("drawn by hash", repr(asdict(config)), *content), "safetensors", cache)
    if not path.is_file():
        mined = mine(full, config)
        both = {"exemplars": mined.exemplars, "distances": mined.distances}
        save_tensors({name: torch.from_numpy(rows) for name, rows in both.items()}, path)
    kept = {name: rows.numpy() for name, rows in load_tensors(path).items()}
    pool = [pair.target if config.pool == "targets" else pair.source for pair in full]
    return Mined(full, pool, kept["exemplars"], kept["distances"])


def why_none(pairs: Sequence[Pair], config: MiningConfig) -> str:
    """What keeps every sentence of the pool from every target, and what helps; for pairs of which none has an exemplar.

    The rules are gone through one by one: the first that leaves nothing of the first `LOOKED_AT` targets is named.

    Args:
        pairs: targets, and sources too if they are the pool, tokenised; with clusters if `exclude_cluster` is on.
    """
    pool = [pair.target if config.pool == "targets" else pair.source for pair in pairs]
    kept = [(row, other) for row in range(min(len(pairs), LOOKED_AT)) for other in range(len(pool))]
    steps: list[tuple[Callable[[int, int], bool], str]] = [
        (
            lambda row, other: not (config.exclude_cluster and pairs[row].cluster == pairs[other].cluster),
            "all are of one duplicate cluster, and a sentence is no exemplar of its own paraphrases; pairs of other"
            " meanings are needed",
        ),
        (
            lambda row, other: config.window is None or abs(row - other) <= config.window,
            f"no other cluster has a row within window {config.window}; a wider one or none finds some",
        ),
        (
            lambda row, other: abs(len(pairs[row].target.tokens) - len(pool[other].tokens)) <= config.length_gap,
            f"no sentence of another cluster is within length_gap {config.length_gap} words as long; more pairs find"
            " some, or a larger gap",
        ),
        (
            lambda row, other: pool[other].tokens not in (pairs[row].target.tokens, pairs[row].source.tokens, ()),
            "all that are as long are the target or its source again; other sentences are needed",
        ),
    ]
    for fits, reason in steps:
        kept = [(row, other) for row, other in kept if fits(row, other)]
        if not kept:
            return reason
    return (
        f"all that are about as long have too many of the target's words (min_new_words {config.min_new_words}); more"
        " pairs find some, or fewer new words"
    )


def dealt_pools(count: int, config: MiningConfig) -> list[list[int]]:
    """The rows of each pool, in order."""
    if not config.pool_size:
        return [list(range(count))]
    dealt = np.random.default_rng(config.seed).permutation(count)
    parts = np.array_split(dealt, max(1, round(count / config.pool_size)))
    return [sorted(part.tolist()) for part in parts]
