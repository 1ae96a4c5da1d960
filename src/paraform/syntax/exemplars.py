"""Exemplars: for each target, the sentences with the nearest tag sequence and other words (CRL-EGPG, Algorithm 1).

Shape key: R sentences of the index, N targets, K exemplars kept for each.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple, final

import numpy as np
from numpy.typing import NDArray

from paraform.records import InputError, Sentence, require_count, require_records
from paraform.syntax import index_folder
from paraform.syntax.candidates import FAR, Asked, Found, Pool, Rules, Targets
from paraform.syntax.compiled import read_only
from paraform.syntax.rows import Clusters, Numbers, check_count, encode, joined, text_hash
from paraform.syntax.rules import MiningConfig
from paraform.syntax.search import search
from paraform.syntax.searchable import Searchable, searchable, similar_queries
from paraform.threads import cores
from paraform.weights import PathLike, require_path

GROUPS_AT_ONCE = 128  # targets' tag sequences that a thread searches before it takes the next


class Match(NamedTuple):
    """A sentence of the index, by its place in `build`, and the edit distance of its tags from the target's."""

    row: int
    distance: int


class Nearest(NamedTuple):
    """The exemplars of N targets, nearest first: [N, K] rows of the index and distances; −1 where there is none."""

    rows: NDArray[np.int64]
    distances: NDArray[np.int64]


@final
class ExemplarIndex:
    """Sentences to search by tag sequence, exactly: `ExemplarIndex.build(sentences).nearest(targets)`.

    Every different tag sequence is compared once, on all cores, and most are left out by the tags that they hold.
    """

    def __init__(self) -> None:
        self._numbers = Numbers()
        self._encoded = encode((), None, self._numbers, learn=True)
        self._made: Searchable | None = None

    @classmethod
    def build(cls, sentences: Sequence[Sentence], clusters: Clusters | None = None) -> ExemplarIndex:
        """An index over R tokenised and tagged sentences; a sentence's place among them is its `Match.row`.

        Args:
            clusters: R numbers ≥ 0 of duplicate clusters; None, for one or for all: not known.
        Raises: InputError if a sentence has not one tag a token, or the clusters are not R.
        """
        index = cls()
        index.add(sentences, clusters)
        return index

    @classmethod
    def load(cls, folder: PathLike) -> ExemplarIndex:
        """The index that `save` wrote; its arrays stay on disk until they are looked at.

        Raises: InputError if it is none, is of another version, or is damaged.
        """
        require_path(folder)
        index = cls()
        index._numbers, index._encoded, index._made = index_folder.read(Path(folder))
        return index

    def save(self, folder: PathLike) -> None:
        """Write the index; a kill leaves the folder's former index whole.

        Raises: InputError if the folder holds something else.
        """
        require_path(folder)
        index_folder.write(Path(folder), self._numbers, self._encoded, self._ready())

    def add(self, sentences: Sequence[Sentence], clusters: Clusters | None = None) -> None:
        """More sentences, whose rows follow: these alone are encoded; the next search sorts all of them again.

        Raises: as `build`; the index is then as it was.
        """
        self._made = None  # first: an interrupted `encode` may have numbered tags that it does not know
        self._encoded = joined(self._encoded, encode(sentences, clusters, self._numbers, learn=True))
        self._made = None  # what another thread's search has made meanwhile lacks them

    def __len__(self) -> int:
        return len(self._encoded.rows.texts)

    def text(self, row: int) -> str:
        """The sentence that stands there, as it was given.

        Raises: InputError if there is none, or an index that was read holds no text there.
        """
        if not isinstance(row, (int, np.integer)):
            raise InputError(f"row is of type {type(row).__name__}; expected a whole number")
        if not 0 <= row < len(self):
            raise InputError(f"row {str(row)[:40]} of {len(self)}; expected 0 to {len(self) - 1}")
        start, end = self._encoded.text_starts[row : row + 2]
        try:
            return bytes(self._encoded.characters[start:end]).decode(errors="surrogatepass")
        except UnicodeDecodeError as error:
            raise InputError(f"row {row} of a damaged index: {error}; build and save it again") from error

    def nearest(
        self,
        targets: Sequence[Sentence],
        config: MiningConfig | None = None,
        *,
        k: int | None = None,
        sources: Sequence[Sentence] | None = None,
        clusters: Clusters | None = None,
        rows: Sequence[int] | None = None,
        progress: Callable[[int], None] | None = None,
    ) -> list[list[Match]]:
        """The exemplars of each target, nearest first; [] for a target that has none.

        Args:
            targets: N, tokenised and tagged.
            config: the rules; `MiningConfig()` if None.
            k: that many of each, tied or not: `keep=k, among="nearest"`.
            sources: N sentences that must not come back either; only their texts are looked at.
            clusters: N numbers as in `build`; only what is known on both sides is compared.
            rows: N, where each target stands, for `window` and the random ties; 0, 1, … if None.
            progress: hears how many more targets are done, from time to time.
        Raises: InputError if the index is empty, a target has not one tag a token, or the numbers do not match.
        """
        config = MiningConfig() if config is None else config
        require_records([config], MiningConfig)
        if k is not None:
            config = replace(config, keep=k, among="nearest")
        if len(self):  # a target has no more, and room for as many as were asked for may be more than there is
            config = replace(config, keep=min(config.keep, len(self)))
        found = self.nearest_rows(targets, config, sources=sources, clusters=clusters, rows=rows, progress=progress)
        lines = zip(found.rows.tolist(), found.distances.tolist(), strict=True)
        return [[Match(*match) for match in zip(*line, strict=True) if match[0] >= 0] for line in lines]

    def nearest_rows(
        self,
        targets: Sequence[Sentence] | None,
        config: MiningConfig | None = None,
        *,
        sources: Sequence[Sentence] | None = None,
        clusters: Clusters | None = None,
        rows: Sequence[int] | NDArray[np.int64] | None = None,
        threads: int | None = None,
        progress: Callable[[int], None] | None = None,
    ) -> Nearest:
        """The same as arrays.

        Args:
            targets: None: the sentences of the index themselves, and their clusters.
            threads: None: as many as this process may use cores.
        """
        if not len(self):
            raise InputError("ExemplarIndex holds 0 sentences; call ExemplarIndex.build(sentences) first")
        config = MiningConfig() if config is None else config
        require_records([config], MiningConfig)
        if threads is not None:
            require_count(threads, "threads", 1, 10_000)
        sources = None if sources is None else require_records(sources, Sentence)
        asked = self._encoded if targets is None else encode(targets, clusters, self._numbers, learn=False)
        count = len(asked.rows.texts)
        if sources is not None:
            check_count("sources", len(sources), count, "targets")
        index = self._ready()
        groups, queries = similar_queries(asked, index.bit_of)
        about = Targets(
            sources=asked.rows.texts
            if sources is None
            else np.frombuffer(b"".join(map(text_hash, sources)), np.uint64),
            places=np.arange(count) if rows is None else _whole_numbers(rows, count),
            lengths=np.diff(asked.starts),
        )
        read_only(about)
        found = Found.nothing(count, config.keep)
        looking = Asked(about, asked.rows, Rules.of(config), found, np.full(count, FAR))
        pool = Pool(self._encoded.rows, index.members if config.window is not None else index.different)

        def part(first: int) -> int:
            last = min(first + GROUPS_AT_ONCE, len(queries.starts) - 1)
            search(index, pool, queries, groups, looking, first, last)
            return int(groups.starts[last] - groups.starts[first])

        firsts = range(0, len(queries.starts) - 1, GROUPS_AT_ONCE)
        executor = ThreadPoolExecutor(threads or cores())
        try:  # the longest sequences, which take longest, go first, so that no core is idle at the end
            for done in as_completed([executor.submit(part, first) for first in reversed(firsts)]):
                number = done.result()
                if progress:
                    progress(number)
        finally:
            executor.shutdown(cancel_futures=True)
        return Nearest(found.rows, np.where(found.rows < 0, -1, found.distances))

    def _ready(self) -> Searchable:
        if self._made is None:
            self._made = searchable(self._encoded, len(self._numbers.tags))
        return self._made


def _whole_numbers(rows: Sequence[int] | NDArray[np.int64], count: int) -> NDArray[np.int64]:
    try:
        found = np.array(rows, np.int64)
    except (TypeError, ValueError, OverflowError) as error:
        raise InputError(f"rows: {error}; expected a whole number for each target") from error
    check_count("rows", found.size if found.ndim == 1 else -1, count, "targets")
    return found
