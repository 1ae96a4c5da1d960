"""Exemplars: for each target, the sentences with the nearest tag sequence and other words (CRL-EGPG, Algorithm 1).

Shape key: N sentences or targets, K exemplars kept for each.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray
from rapidfuzz.distance import Levenshtein
from rapidfuzz.process import cdist

from paraform.records import Sentence
from paraform.syntax.ragged import Integers, Ragged
from paraform.syntax.rules import MiningConfig

Clusters: TypeAlias = Sequence[int | None]
Distances: TypeAlias = NDArray[np.unsignedinteger]

BLOCK_CELLS = 1 << 25  # distances held at once: 32 MiB while no sentence is longer than 255 words


class Match(NamedTuple):
    """A sentence of the index, by its place in `build`, and the edit distance of its tags from the target's."""

    row: int
    distance: int


class Query(NamedTuple):
    number: int  # in the order asked
    row: int
    length: int
    words: Integers  # those of the index, ascending, and a last one that no sentence has
    counts: Integers  # how often it holds each
    texts: tuple[int, int]  # its own and its source's
    cluster: int


class ExemplarIndex:
    """Sentences to search by tag sequence, exactly: `ExemplarIndex.build(sentences).nearest(targets)`.

    Every different tag sequence is compared once: with those of lengths within the gap, a block of them at a time.
    """

    def __init__(self) -> None:
        self._fill((), None)

    @classmethod
    def build(cls, sentences: Sequence[Sentence], clusters: Clusters | None = None) -> ExemplarIndex:
        """An index over N tokenised and tagged sentences; a sentence's place among them is its `Match.row`.

        Args:
            clusters: N numbers of duplicate clusters; None, for one or for all: not known.
        Raises: ValueError if a sentence has not one tag a token, or the clusters are not N.
        """
        index = cls()
        index._fill(sentences, clusters)
        return index

    def _fill(self, sentences: Sequence[Sentence], clusters: Clusters | None) -> None:
        clusters = [None] * len(sentences) if clusters is None else clusters
        _check_count("clusters", len(clusters), len(sentences), "sentences")
        self._size = len(sentences)
        self._characters: dict[str, str] = {}  # a tag is one character, so that a tag sequence is a str
        self._word_ids: dict[str, int] = {}
        self._text_ids: dict[str, int] = {}
        self._cluster_ids: dict[int | None, int] = {}
        rows_of: defaultdict[str, list[int]] = defaultdict(list)
        words: list[list[int]] = []
        counts: list[int] = []
        for row, sentence in enumerate(sentences):
            check_tagged(sentence, row)
            for tag in sentence.tags:
                self._characters.setdefault(tag, chr(33 + len(self._characters)))
            if sentence.tokens:
                rows_of[self._sequence(sentence)].append(row)
            held = Counter(self._word_ids.setdefault(word, len(self._word_ids)) for word in _lower(sentence))
            words.append(list(held.keys()))
            counts.extend(held.values())
        self._sequences = sorted(rows_of, key=len)
        self._lengths = np.array([len(sequence) for sequence in self._sequences], np.int64)
        self._rows = Ragged.of([rows_of[sequence] for sequence in self._sequences])
        self._words = Ragged.of(words)
        self._counts = np.array(counts, np.int64)
        self._texts = _numbered(map(_same_text, sentences), self._text_ids)
        self._wordings = _numbered(map(_lower, sentences), {})
        self._clusters = _numbered(clusters, self._cluster_ids)

    def __len__(self) -> int:
        return self._size

    def nearest(
        self,
        targets: Sequence[Sentence],
        config: MiningConfig | None = None,
        *,
        sources: Sequence[Sentence] | None = None,
        clusters: Clusters | None = None,
        rows: Sequence[int] | None = None,
        progress: Callable[[int], None] | None = None,
    ) -> list[list[Match]]:
        """The exemplars of each target, nearest first; [] for a target that has none.

        Args:
            targets: N, tokenised and tagged.
            config: the rules; `MiningConfig()` if None.
            sources: N sentences that must not come back either; only their texts are looked at.
            clusters: N numbers as in `build`; only what is known on both sides is compared.
            rows: N, where each target stands, for `window` and the random ties; 0, 1, … if None.
            progress: hears how many more targets are done, from time to time.
        Raises: ValueError if the index is empty, a target has not one tag a token, or the numbers do not match.
        """
        if not self._size:
            raise ValueError("ExemplarIndex holds 0 sentences; call ExemplarIndex.build(sentences) first")
        config = config or MiningConfig()
        count = len(targets)
        sources = targets if sources is None else sources
        clusters = [None] * count if clusters is None else clusters
        rows = range(count) if rows is None else rows
        for name, given in {"sources": sources, "clusters": clusters, "rows": rows}.items():
            _check_count(name, len(given), count, "targets")
        groups: defaultdict[str, list[int]] = defaultdict(list)
        for number, target in enumerate(targets):
            check_tagged(target, number)
            groups[self._sequence(target)].append(number)
        found: list[list[Match]] = [[] for _ in targets]
        for sequences, first, distances in self._blocks(sorted(groups, key=len), config.length_gap):
            for sequence, line in zip(sequences, distances, strict=True):
                queries = [
                    self._query(number, targets[number], sources[number], clusters[number], rows[number])
                    for number in groups[sequence]
                ]
                self._answer(queries, line, first, config, found)
            if progress:
                progress(sum(len(groups[sequence]) for sequence in sequences))
        return found

    def _sequence(self, sentence: Sentence) -> str:
        return "".join(self._characters.get(tag, " ") for tag in sentence.tags)  # a tag not of the index equals none

    def _query(self, number: int, target: Sentence, source: Sentence, cluster: int | None, row: int) -> Query:
        known = (self._word_ids.get(word) for word in _lower(target))
        texts = (self._text_ids.get(_same_text(target), -1), self._text_ids.get(_same_text(source), -1))
        cluster_id = -1 if cluster is None else self._cluster_ids.get(cluster, -1)
        held = sorted(Counter(word for word in known if word is not None).items())
        words, counts = np.array([*held, (len(self._word_ids), 0)]).T
        return Query(number, row, len(target.tokens), words, counts, texts, cluster_id)

    def _blocks(self, sequences: list[str], gap: int) -> Iterator[tuple[list[str], int, Distances]]:
        """Some of the sequences, the first of the index's that lie within the gap, and the distances to all those."""
        begin = 0
        while begin < len(sequences):
            length = len(sequences[begin])
            first = int(np.searchsorted(self._lengths, length - gap, side="left"))
            last = int(np.searchsorted(self._lengths, length + gap, side="right"))
            end = min(begin + max(1, BLOCK_CELLS // max(1, last - first)), len(sequences))
            part = [sequence for sequence in sequences[begin:end] if len(sequence) == length]
            dtype = np.min_scalar_type(length + gap)  # no distance is greater than the longer of the two
            among = self._sequences[first:last]
            yield part, first, cdist(part, among, scorer=Levenshtein.distance, dtype=dtype, workers=-1)
            begin += len(part)

    def _answer(
        self, queries: list[Query], distances: Distances, first: int, config: MiningConfig, found: list[list[Match]]
    ) -> None:
        """Goes up the distances from one tag sequence until each of the targets that have it is served."""
        if not len(distances):
            return
        enough = 1 if config.among == "tied" else config.keep
        for distance in range(int(distances.min()), int(distances.max()) + 1):
            places, _ = self._rows.places(first + np.flatnonzero(distances == distance))
            rows = np.sort(self._rows.values[places])
            for query in queries:
                self._take(query, rows, distance, config, found[query.number])
            queries = [query for query in queries if len(found[query.number]) < enough]
            if not queries:
                return

    def _take(self, query: Query, rows: Integers, distance: int, config: MiningConfig, found: list[Match]) -> None:
        """Adds to `found` what may be taken of these rows, all at this distance."""
        texts = self._texts[rows]
        allowed = (texts != query.texts[0]) & (texts != query.texts[1])
        if config.exclude_cluster:
            allowed &= self._clusters[rows] != query.cluster
        if config.window is not None:
            allowed &= np.abs(rows - query.row) <= config.window
        if found:
            allowed &= ~np.isin(self._wordings[rows], self._wordings[[match.row for match in found]])
        rows = rows[allowed]
        if not len(rows):
            return
        _, firsts = np.unique(self._wordings[rows], return_index=True)
        rows = rows[np.sort(firsts)]
        if config.ties == "random" and len(rows) > 1:
            rows = np.random.default_rng([config.seed, query.row, distance]).permutation(rows)
        few = 4 * config.keep  # nearly all rows pass the rule, so looking at the rest is rare
        for part in (rows[:few], rows[few:]):
            if len(part) and len(found) < config.keep:
                passed = part[self._shared(query, part, config.distinct) + config.min_new_words <= query.length]
                found += [Match(int(row), distance) for row in passed[: config.keep - len(found)]]

    def _shared(self, query: Query, rows: Integers, distinct: bool) -> Integers:
        """How many words the target shares with each of these sentences."""
        places, begins = self._words.places(rows)
        words = self._words.values[places]
        near = np.searchsorted(query.words, words)
        counts = np.minimum(query.counts[near], 1 if distinct else self._counts[places])
        shared: Integers = np.where(query.words[near] == words, counts, 0)
        return np.add.reduceat(shared, begins)


def _same_text(sentence: Sentence) -> str:
    return "".join(sentence.text.lower().split())


def _lower(sentence: Sentence) -> tuple[str, ...]:
    return tuple(word.lower() for word in sentence.tokens)


def _numbered(keys: Iterable[Hashable], numbers: dict[Any, int]) -> Integers:
    return np.array([numbers.setdefault(key, len(numbers)) for key in keys], np.int64)


def check_tagged(sentence: Sentence, number: int) -> None:
    """Raises: ValueError if the sentence has not one tag a token."""
    if len(sentence.tags) != len(sentence.tokens) or (sentence.text.strip() and not sentence.tokens):
        raise ValueError(
            f"sentence {number} has {len(sentence.tokens)} tokens and {len(sentence.tags)} tags; tokenise it with "
            "words.tokenize and tag it with syntax.tagging.load_tagger() first"
        )


def _check_count(name: str, count: int, wanted: int, of: str) -> None:
    if count != wanted:
        raise ValueError(f"{count} {name} for {wanted} {of}; expected one for each")
