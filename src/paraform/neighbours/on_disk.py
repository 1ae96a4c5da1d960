"""`duplicates` of a corpus beyond memory: every step in pieces on disk, by any engine, resumed where it was.

In the folder are, in the order in which they are made: the corpus; which row has each row's text first; the vectors of
the texts that are compared, in shards (`checkpoint.shards`); their near pairs (`near_on_disk`); and, where pairs are
kept apart or verified, what came of each (`verdicts`). Who asks for other pairs of the same vectors, or has them looked
at otherwise, gets other folders of these there. On a cluster all machines must share the folder and the models' files.
What is held in memory are some tens of bytes a row, here, and some blocks in each worker.

Shape key: N rows of the corpus, R texts that are compared, U that the model cannot read, P pairs.
"""

from __future__ import annotations

import hashlib
import itertools
import logging
import shutil
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from paraform.capabilities import Embedder, TellsUnread, unread_by
from paraform.checkpoint.shards import SHARD, Embedding, Job, embed_corpus, load_same
from paraform.corpora.columns import ArrowColumns, Columns, Place, write_columns
from paraform.corpora.components import join, roots_of
from paraform.engines import Engine, kept_open, rows_of, run
from paraform.engines.shards import is_job, job_digest, require_job
from paraform.neighbours.apart import Kind
from paraform.neighbours.duplicates import letters_of
from paraform.neighbours.near_on_disk import Near, cells_on_disk, near_pairs_on_disk, search_for
from paraform.neighbours.near_pairs import Search
from paraform.neighbours.pieces import PAIR, Vectors, mapped, piece, save
from paraform.neighbours.verdicts import WHY, Judging, Pair, Source, Why
from paraform.records import InputError
from paraform.weights import PathLike

AT_ONCE = 16_384  # rows whose texts are held at once
PARTS = 16  # of digests, sorted one after another
LETTERS = 2**16  # pairs of a piece of those by letters
MOST_ROWS = 2**31 - 1


@dataclass(frozen=True)
class Question:
    """What is asked of a corpus.

    Args:
        model, vectors, device: as `checkpoint.shards.Embedding` has them; signature: the model's.
        products, batch_size, seed: as in `checkpoint.shards.Job`.
        threshold, search: as in `duplicates`.
        keep_apart, verify, verify_threshold, by_minilm: as in `verdicts.Judging`; verify_weights: its `weights`.
        input: SHA-256 of what the corpus is read from, and how.
    """

    model: str
    vectors: str
    device: str
    signature: str
    products: str
    batch_size: int
    seed: int
    threshold: float
    search: Search
    keep_apart: tuple[Kind, ...]
    verify: str
    verify_weights: str
    verify_threshold: float
    by_minilm: bool
    input: str


@dataclass(frozen=True)
class Corpus:
    """Whose texts a folder has: of which file, and as which model reads them."""

    input: str
    model: str


@dataclass(frozen=True)
class Verdicts:
    """Of which pairs a folder has verdicts, as `Near.of` has them, and whose."""

    pairs: str
    keep_apart: str
    verify: str
    weights: str
    verify_threshold: float
    by_minilm: bool
    batch_size: int


@dataclass(frozen=True, eq=False)
class Found:
    """What was found, to be read from its folder.

    Args:
        corpus: whose rows the numbers are, from 0.
        different: how many different texts there are.
        search, apart: as in `Duplicates`.
        count: of pairs.
        unread: rows that the model cannot read; first_unread: the first of them; -1: none.
    """

    corpus: ArrowColumns
    different: int
    search: Literal["exact", "index"]
    count: int
    apart: Counter[Why]
    unread: int
    first_unread: int
    _sources: tuple[Source, ...]
    _roots_N: NDArray[np.int32]

    def pairs(self) -> Iterator[Pair]:
        """As `Duplicates` has them: those by letters, then the nearest first."""
        return itertools.chain.from_iterable(source.in_order() for source in self._sources)

    def clusters(self) -> Iterator[NDArray[np.int32]]:
        """The rows of each cluster, in order, by its first row."""
        sizes_N = np.bincount(self._roots_N, minlength=len(self._roots_N)).astype(np.int32)
        rows = np.flatnonzero(sizes_N[self._roots_N] > 1).astype(np.int32)
        rows = rows[np.argsort(self._roots_N[rows], kind="stable")]
        first = 0
        while first < len(rows):
            last = first + int(sizes_N[self._roots_N[rows[first]]])
            yield rows[first:last]
            first = last

    def firsts(self) -> NDArray[np.bool_]:
        """Whether each row is in no cluster, or the first of one, [N]."""
        first_N: NDArray[np.bool_] = self._roots_N == np.arange(len(self._roots_N))
        return first_N


def duplicates_on_disk(
    corpus: Columns,
    model: Embedder,
    folder: PathLike,
    question: Question,
    *,
    engine: Engine,
    progress: bool = False,
    tell: Callable[[str], None] = lambda message: None,
) -> Found:
    """What `duplicates` finds, of a corpus that is read once, in a folder that keeps all that was made on the way.

    By an exact search these are the same pairs, of cosines up to rounding; an index may miss others than that one does.

    Args:
        corpus: not looked at if the folder has it already.
        model: the question's.
        progress: say on stderr how far it is.
        tell: hears what disk it takes, before it is taken.
    Raises: InputError for a folder of another question's, a disk that is too full, and as `near_pairs_on_disk`.
    """
    base, job = Path(folder).resolve(), asdict(Corpus(question.input, question.signature))
    is_job(base, job)  # before all is read
    arrow, firsts = base / "corpus.arrow", base / "firsts.npy"

    def places() -> Iterator[Place]:
        yield from corpus.places
        require_job(base, job)  # once it was read to its end: who mends a bad line has another file

    if not arrow.is_file():
        write_columns(Columns(corpus.schema, places()), arrow)
    texts = ArrowColumns(arrow)
    if len(texts) > MOST_ROWS:
        raise InputError(f"{len(texts):,} texts; expected {MOST_ROWS:,} at most")
    if not firsts.is_file():
        save(first_of_each(_digests(texts, str)), firsts)
    first_N = np.array(mapped(firsts, np.int32, len(texts)))
    different_N = first_N == np.arange(len(first_N))
    with kept_open(engine):
        unread_N = _unread(model, base, different_N, question, engine, progress)
        read_R = np.flatnonzero(different_N & ~unread_N).astype(np.int32)
        save(read_R, base / "read.npy")
        search = search_for(len(read_R), question.search)
        width = _width(model, question)
        _require_room(base, room_for(base, len(read_R), width, search), len(read_R), tell)
        vectors = _vectors(width, len(read_R), base, question, engine, progress)
        how: dict[str, Any] = {"search": search, "seed": question.seed, "engine": engine, "progress": progress}
        near = near_pairs_on_disk(vectors, base, question.threshold, **how)
        letters = _letters(texts, base / "letters", np.flatnonzero(different_N & unread_N).astype(np.int32))
        sources = [
            Source(str(base / "letters"), letters, rows="", verdicts="", merged=False),
            Source(near.folder, len(near.counts), rows=vectors.names, verdicts="", merged=True),
        ]
        if question.keep_apart or question.verify:
            sources = _with_verdicts(sources, near, base, question, engine, progress)
    parents_N, count, apart = first_N.copy(), 0, np.zeros(len(WHY), np.int64)
    for rows_P2, why_P in itertools.chain.from_iterable(source.parts() for source in sources):
        join(parents_N, rows_P2[why_P == 0])
        counts = np.bincount(why_P, minlength=len(WHY))
        count, apart = count + int(counts[0]), apart + counts
    why = Counter({kind: number for kind, number in zip(WHY, apart.tolist(), strict=True) if kind and number})
    unread_N = unread_N[first_N]
    unread = int(unread_N.sum())
    first_unread = int(unread_N.argmax()) if unread else -1
    roots_N = roots_of(parents_N, parents_N)
    return Found(
        corpus=texts,
        different=int(different_N.sum()),
        search=search,
        count=count,
        apart=why,
        unread=unread,
        first_unread=first_unread,
        _sources=tuple(sources),
        _roots_N=roots_N,
    )


def first_of_each(digests_N2: NDArray[np.uint64]) -> NDArray[np.int32]:
    """For each row the first one with the same digest, [N]."""
    first_N = np.arange(len(digests_N2), dtype=np.int32)
    for part in range(PARTS):
        rows = np.flatnonzero(digests_N2[:, 0] % PARTS == part).astype(np.int32)
        some = digests_N2[rows]
        order = np.lexsort(some.T)  # stable: of equal ones the first stays first
        new = np.ones(len(rows), np.bool_)
        new[1:] = (some[order[1:]] != some[order[:-1]]).any(1)
        first_N[rows[order]] = rows[order[np.flatnonzero(new)[np.cumsum(new) - 1]]]
    return first_N


def _digests(
    texts: ArrowColumns, key: Callable[[str], str], rows: NDArray[np.int32] | None = None
) -> NDArray[np.uint64]:
    """Of 128 bits, [N, 2]: that two of a hundred million texts share one without being the same is out of reach."""
    count = len(texts) if rows is None else len(rows)
    digests_N2 = np.empty((count, 2), np.uint64)
    for first in range(0, count, AT_ONCE):
        last = min(first + AT_ONCE, count)
        some = texts.texts(first, last) if rows is None else texts.take(rows[first:last], "text")["text"]
        digests = [hashlib.blake2b(key(text).encode(errors="surrogatepass"), digest_size=16).digest() for text in some]
        digests_N2[first:last] = np.frombuffer(b"".join(digests), "<u8").reshape(-1, 2)
    return digests_N2


@dataclass(frozen=True)
class Reading:
    """The work: of the rows of chunk i that have a text first, a bit says whether the model cannot read it."""

    arrow: str
    firsts: str
    model: str
    device: str
    vectors: str
    signature: str

    def open(self) -> Callable[[int], bytes]:
        """What reads a chunk in this process."""
        corpus, model = ArrowColumns(self.arrow), load_same(self.model, self.device, self.vectors, self.signature)

        def chunk(number: int) -> bytes:
            first, last = rows_of(number, AT_ONCE, len(corpus))
            new = np.flatnonzero(mapped(self.firsts, np.int32, len(corpus))[first:last] == np.arange(first, last))
            texts, unread = corpus.texts(first, last), np.zeros(last - first, np.bool_)
            unread[new] = unread_by(model, [texts[at] for at in new])
            return np.packbits(unread).tobytes()

        return chunk


def _unread(
    model: Embedder, base: Path, different_N: NDArray[np.bool_], question: Question, engine: Engine, progress: bool
) -> NDArray[np.bool_]:
    """Which rows that have a text first the model cannot read."""
    path, count = base / "unread.npy", len(different_N)
    if not path.is_file():
        unread_N = np.zeros(count, np.bool_)
        if isinstance(model, TellsUnread):
            files = str(base / "corpus.arrow"), str(base / "firsts.npy")
            work = Reading(*files, question.model, question.device, question.vectors, question.signature)
            results = run(work, -(-count // AT_ONCE), engine=engine, progress="reading" if progress else None)
            for number, result in enumerate(results):
                first, last = rows_of(number, AT_ONCE, count)
                unread_N[first:last] = np.unpackbits(np.frombuffer(result, np.uint8), count=last - first)
        save(unread_N, path)
    return np.array(mapped(path, np.bool_, count))


def _vectors(width: int, rows: int, base: Path, question: Question, engine: Engine, progress: bool) -> Vectors:
    """Of the texts that are read, in shards."""
    folder, names = str(base / "vectors"), str(base / "read.npy")
    job = Job(
        model=question.signature,
        products=question.products,
        batch_size=question.batch_size,
        seed=question.seed,
        input=question.input,
        rows=rows,
        size=SHARD,
        suffix=".npy",
    )
    work = Embedding(
        arrow=str(base / "corpus.arrow"),
        folder=folder,
        name=question.model,
        vectors=question.vectors,
        device=question.device,
        job=job,
        rows=names,
    )
    embed_corpus(work, engine=engine, progress="embedding" if progress else None)
    return Vectors(folder, rows, SHARD, width, job_digest(asdict(job)), names)


def _width(model: Embedder, question: Question) -> int:
    """Features of a vector; what is logged of the text that is read for it is of no text of the corpus."""
    logger = logging.getLogger("paraform")
    logger.disabled = True
    try:
        return int(model.embed(["a text"], question.vectors, batch_size=question.batch_size).shape[1])
    finally:
        logger.disabled = False


def room_for(base: Path, rows: int, width: int, search: str) -> int:
    """Bytes on disk that the vectors of so many texts and the cells of an index still need; pairs come on top."""
    stages = {"vectors": (-(-rows // SHARD), rows * 4 * width)}
    if search == "index":
        stages["cells"] = cells_on_disk(rows, width)
    needed = 0
    for name, (count, size) in stages.items():
        there = [path.stat().st_size for path in (base / name).glob("[0-9]*.npy")]
        needed += max(0, size - sum(there)) if len(there) < count else 0
    return needed


def _require_room(base: Path, needed: int, rows: int, tell: Callable[[str], None]) -> None:
    """Raises: InputError if the disk has less."""
    free = shutil.disk_usage(base).free
    if needed > free:
        raise InputError(
            f"{base}: {free / 2**30:.1f} GiB are free on its disk; expected {needed / 2**30:.1f} for the vectors of"
            f" {rows:,} texts and what an index makes of them, and pairs come on top"
        )
    if needed >= 2**30:
        tell(
            f"{base}: {needed / 2**30:.1f} GiB of disk for the vectors of {rows:,} texts and what an index makes of"
            " them; 12 bytes for each pair and the lines of what is found come on top"
        )


def _letters(texts: ArrowColumns, folder: Path, rows_U: NDArray[np.int32]) -> int:
    """Write the pairs of texts that differ in case and white space alone, each with the first such; how many pieces."""
    first_U = first_of_each(_digests(texts, letters_of, rows_U))
    again = np.flatnonzero(first_U != np.arange(len(first_U)))
    pairs_P = np.ones(len(again), PAIR)
    pairs_P["one"], pairs_P["other"] = rows_U[first_U[again]], rows_U[again]
    count = -(-len(pairs_P) // LETTERS)
    for number in range(count):
        save(pairs_P[number * LETTERS : (number + 1) * LETTERS], piece(str(folder), number))
    return count


def _with_verdicts(
    sources: list[Source], near: Near, base: Path, question: Question, engine: Engine, progress: bool
) -> list[Source]:
    """The pairs with what came of each."""
    verdicts = Verdicts(
        pairs=near.of,
        keep_apart=" ".join(question.keep_apart),
        verify=question.verify,
        weights=question.verify_weights,
        verify_threshold=question.verify_threshold,
        by_minilm=question.by_minilm,
        batch_size=question.batch_size,
    )
    folder = base / f"verdicts-{job_digest(asdict(verdicts))[:8]}"
    require_job(folder, asdict(verdicts))
    found = []
    for source in sources:
        work = Judging(
            source=source,
            arrow=str(base / "corpus.arrow"),
            folder=str(folder / Path(source.folder).name),
            keep_apart=question.keep_apart,
            verify=question.verify,
            weights=question.verify_weights,
            verify_threshold=question.verify_threshold,
            by_minilm=question.by_minilm,
            batch_size=question.batch_size,
            device=question.device,
            products=question.products,
        )
        for _ in run(work, source.pieces, engine=engine, progress="looking at pairs" if progress else None):
            pass
        found.append(replace(source, verdicts=work.folder))
    return found
