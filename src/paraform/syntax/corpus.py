"""Corpora on disk: annotated, and searched for exemplars, chunk by chunk, on all cores or on a Ray cluster.

What a chunk gives depends on its rows alone, so that the output is the same whatever the engine and the number of
workers. Workers read memory-mapped files of the cache folder; on a cluster it must be one that all machines share.
"""

from __future__ import annotations

import hashlib
import json
import tempfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from paraform.corpora.arrow import ArrowRecords, write_arrow
from paraform.engines import Engine, rows_of, run
from paraform.records import Pair, Record, Sentence, from_json, sides_of, to_json
from paraform.syntax.annotation import Annotate, Annotator
from paraform.syntax.rules import MiningConfig
from paraform.weights import cache_folder, read_kept, write_kept

if TYPE_CHECKING:
    from paraform.syntax.exemplars import ExemplarIndex, Nearest
    from paraform.syntax.mining import Search as SearchIndex

CHUNK = 1024  # records annotated at once, and one file of the cache
SEARCHED = 8192  # targets searched at once


@dataclass(frozen=True)
class Annotation:
    """The work of annotating an Arrow file of records: chunk i is JSON lines, kept in a file behind their digest.

    Args:
        arrow: the file.
        folder: where finished chunks are kept; a run that was killed finds them there.
        how: the annotator.
        size: records of a chunk.
    """

    arrow: str
    folder: str
    how: Annotator
    size: int

    def open(self) -> Callable[[int], bytes]:
        """What annotates a chunk in this process."""
        data = ArrowRecords(self.arrow)
        annotate: list[Annotate] = []  # loaded when a chunk is not there yet

        def chunk(number: int) -> bytes:
            path = Path(self.folder) / f"{number}.jsonl"
            if (content := read_kept(path)) is None:
                if not annotate:
                    annotate.append(self.how.open())
                records = data.rows(*rows_of(number, self.size, len(data)))
                lines = (json.dumps(to_json(record), ensure_ascii=False) for record in annotated(records, annotate[0]))
                content = "".join(f"{line}\n" for line in lines).encode()
                write_kept(path, content)
            return content

        return chunk


def annotated(records: Sequence[Record], annotate: Annotate) -> list[Record]:
    """The same records, each of their sentences annotated."""
    sentences = annotate([sentence for record in records for sentence in sides_of(record).values()])
    rest = iter(sentences)
    return [_with(record, rest) for record in records]


def annotate_corpus(
    records: Iterable[Record],
    digest: str,
    how: Annotator,
    *,
    engine: Engine,
    cache: Path | None = None,
    size: int = CHUNK,
    progress: str | None = None,
) -> Iterator[bytes]:
    """JSON lines of all records with words, tags and, if the annotator has a parser, trees, chunk by chunk in order.

    Args:
        records: read once, and not at all if the cache has them.
        digest: SHA-256 of what the records are read from.
        engine: where it runs.
        cache: None: `weights.cache_folder()`.
        size: records of a chunk; other sizes may round otherwise, so that it is the same for all engines.
        progress: what stderr is told is done; None: nothing.
    """
    cache = cache or cache_folder()
    arrow = cache / "corpora" / f"{digest[:32]}.arrow"
    if not arrow.is_file():
        write_arrow(records, arrow)
    key = hashlib.sha256(f"{digest} {size} {how.digest()}".encode()).hexdigest()
    folder = cache / "annotated" / key[:32]
    chunks = -(-len(ArrowRecords(arrow)) // size)
    return run(Annotation(str(arrow), str(folder), how, size), chunks, engine=engine, progress=progress)


@dataclass(frozen=True)
class Search:
    """The work of finding exemplars: chunk i is the rows and distances of its targets, as int64.

    Args:
        index: the folder of an `ExemplarIndex`.
        arrow: the pairs, annotated, with their clusters.
        rows: the file of their places, for `window` and the random ties.
        config: the rules.
    """

    index: str
    arrow: str
    rows: str
    config: MiningConfig

    def open(self) -> Callable[[int], bytes]:
        """What searches a chunk in this process."""
        from paraform.syntax.exemplars import ExemplarIndex

        index, data = ExemplarIndex.load(self.index), ArrowRecords(self.arrow)
        places = np.load(self.rows, allow_pickle=False)

        def chunk(number: int) -> bytes:
            first, last = rows_of(number, SEARCHED, len(data))
            pairs = [record for record in data.rows(first, last) if isinstance(record, Pair)]
            found = index.nearest_rows(
                [pair.target for pair in pairs],
                self.config,
                sources=[pair.source for pair in pairs],
                clusters=[pair.cluster for pair in pairs],
                rows=places[first:last],
                threads=1,  # there are as many workers as cores
            )
            return np.stack(found).astype(np.int64).tobytes()

        return chunk


def annotated_pairs(
    pairs: Sequence[Pair],
    digest: str,
    how: Annotator,
    *,
    engine: Engine,
    cache: Path | None = None,
    progress: str | None = None,
) -> list[Pair]:
    """Pairs with their sentences annotated, by `annotate_corpus`; the arguments are its.

    Args:
        digest: SHA-256 of what the pairs are read from; that they are pairs with clusters is added.
    """
    digest = hashlib.sha256(f"{digest} pairs with clusters".encode()).hexdigest()
    chunks = annotate_corpus(pairs, digest, how, engine=engine, cache=cache, progress=progress)
    found = [from_json(json.loads(line)) for chunk in chunks for line in chunk.split(b"\n") if line]
    return [replace(one, origin=pair.origin) for pair, one in zip(pairs, found, strict=True) if isinstance(one, Pair)]


def searched_by(engine: Engine, cache: Path | None = None) -> SearchIndex:
    """A `search` for `mining.mine`: an engine's workers, each at other targets.

    Args:
        cache: where the index and the pairs are put for the workers to read, and removed again; None:
            `weights.cache_folder()`.
    """

    def search(index: ExemplarIndex, pairs: Sequence[Pair], rows: Sequence[int], config: MiningConfig) -> Nearest:
        from paraform.syntax.exemplars import Nearest

        (cache or cache_folder()).mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(prefix="mining-", dir=cache or cache_folder()) as name:
            folder = Path(name)
            index.save(folder / "index")
            write_arrow(pairs, folder / "pairs.arrow")
            np.save(folder / "rows.npy", np.array(rows, np.int64), allow_pickle=False)
            work = Search(str(folder / "index"), str(folder / "pairs.arrow"), str(folder / "rows.npy"), config)
            parts = run(work, -(-len(pairs) // SEARCHED), engine=engine)
            found = [np.frombuffer(part, np.int64).reshape(2, -1, config.keep) for part in parts]
        return Nearest(*np.concatenate(found, axis=1))

    return search


def _with(record: Record, sentences: Iterator[Sentence]) -> Record:
    if isinstance(record, Sentence):
        return next(sentences)
    sides: dict[str, Any] = {name: next(sentences) for name in sides_of(record)}
    return replace(record, **sides)
