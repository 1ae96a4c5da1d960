"""`paraform duplicates --out FOLDER`: lines of the same kind, of a corpus that need not fit into memory."""

from __future__ import annotations

import functools
import hashlib
import itertools
import json
import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

from jsonargparse import Namespace

from paraform.cli.duplicates_found import Summary, columns_of, told, write_lines
from paraform.cli.embed import require_vectors
from paraform.cli.latent import readable
from paraform.cli.messages import tell
from paraform.cli.models import chosen_name, load_able, load_embedder
from paraform.cli.options import engine_of
from paraform.cli.output import show
from paraform.cli.reading import digest_of, no_file, rows_of
from paraform.cli.sharding import is_parquet
from paraform.records import GivenText, InputError
from paraform.version import __version__

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from paraform.capabilities import Embedder
    from paraform.corpora.columns import Columns
    from paraform.neighbours.on_disk import Found, Question
    from paraform.neighbours.verdicts import Pair

FOUND = "found.jsonl"
HELD = 8192  # rows of clusters whose texts are held at once
PAIRS = 65_536  # pairs whose texts are: they are anywhere in the corpus, and far fewer would read it again and again


def write_folder(options: Namespace) -> int:
    """Find, in the folder, and write what was found there."""
    from paraform.checkpoint.folder import absolute_name
    from paraform.neighbours.on_disk import duplicates_on_disk
    from paraform.weights import require_writable

    require_files(options)
    engine = engine_of(options)
    if options.first is not None:
        require_writable(options.first)
    options.device = options.device or "cpu"  # of which every worker has one
    options.model = absolute_name(chosen_name(options.model, options))  # as workers load it, wherever they run
    options.layer = options.pooling = None  # they are in the name now
    model = load_embedder(options)
    require_vectors(model, options)
    asked = question_of(options, model)
    found = duplicates_on_disk(
        corpus_of(options, model), model, options.out, asked, engine=engine, progress=True, tell=tell
    )
    counts = write_found(found, asked, os.path.join(options.out, FOUND), options)
    if options.first is not None:
        write_lines(firsts_of(found), options.first)
    about, summary = told(counts, options)
    return show(options, {"out": options.out, **about}, f"{options.out}: {summary}")


def require_files(options: Namespace) -> None:
    """Raises: InputError unless all that is to be read are files that come again."""
    for path in options.text or ["-"]:
        if came := no_file(path, options):
            raise InputError(
                f"{path[:200]}: {came}; expected files for what is found in {options.out}, or --out NAME.jsonl"
            )


def question_of(options: Namespace, model: Embedder) -> Question:
    """What the options ask, with names that workers elsewhere find."""
    from paraform.capabilities import JudgesMeaning, LatentSpace
    from paraform.checkpoint import signature_of
    from paraform.checkpoint.folder import absolute_name, checkpoint_digest
    from paraform.encoders.torch_settings import products_on
    from paraform.neighbours.duplicates import VERIFIED, is_embedded, usual_threshold
    from paraform.neighbours.on_disk import Question

    vectors = options.vectors or ""
    threshold = options.threshold or usual_threshold(model, options.model, vectors)
    if options.verify is not None:
        load_able(options, JudgesMeaning, "a judge of meaning", "verify")
    read = [digest_of(path, options) for path in options.text]
    longest = model.max_tokens if isinstance(model, LatentSpace) else None
    columns = (options.text_column, options.label_column, options.id_column)
    judge = "" if options.verify is None else absolute_name(chosen_name(options.verify, options))
    return Question(
        model=options.model,
        vectors=vectors,
        device=options.device,
        signature=signature_of(model, options.model, vectors),
        products=products_on(model.device),
        batch_size=options.batch_size or 0,
        seed=options.seed,
        threshold=threshold,
        search=options.search,
        keep_apart=tuple(options.keep_apart),
        verify=judge,
        verify_weights=checkpoint_digest(judge) if judge else "",
        verify_threshold=options.verify_threshold or VERIFIED,
        by_minilm=options.verify is not None and is_embedded(model, "minilm", options.model, vectors),
        input=hashlib.sha256(f"{__version__} {read} {columns} {longest}".encode(errors="surrogatepass")).hexdigest(),
    )


def corpus_of(options: Namespace, model: Embedder) -> Columns:
    """The texts, the number that each is called by, and what goes with it, in JSON."""
    from paraform.capabilities import LatentSpace
    from paraform.corpora.arrow import AT_ONCE, pyarrow_or_error
    from paraform.corpora.columns import Columns, Place

    arrow = pyarrow_or_error()
    schema = arrow.schema([("number", arrow.int64()), ("about", arrow.string())])

    def places() -> Iterator[Place]:
        rows: Iterator[GivenText] = itertools.chain.from_iterable(given_rows(path, options) for path in options.text)
        if isinstance(model, LatentSpace):
            rows = readable(model, rows, options, lambda row: row.text)
        count = itertools.count(1)
        while part := list(itertools.islice(rows, AT_ONCE)):
            numbers = [next(count) if row.line is None or len(options.text) > 1 else row.line for row in part]
            about = [json.dumps(columns_of(row, options), ensure_ascii=False, default=str) for row in part]
            batch = arrow.record_batch([numbers, about], schema=schema)
            yield from (Place(row.text, batch, at) for at, row in enumerate(part))

    return Columns(schema, places())


def given_rows(path: str, options: Namespace) -> Iterator[GivenText]:
    """The texts of a file as `rows_of` has them; those of a Parquet file with the columns that are asked for."""
    if not is_parquet(path):
        yield from rows_of([path], options)
        return
    from paraform.corpora.columns import read_parquet

    corpus = read_parquet(path, options.text_column, skip_bad_lines=options.skip_bad_lines)
    asked = [name for name in (options.id_column, options.label_column) if name in corpus.schema.names]
    for place in corpus.places:
        values = {name: place.batch.column(name)[place.row].as_py() for name in asked}
        yield GivenText(place.origin.line if place.origin else None, place.text, values)


def write_found(found: Found, asked: Question, path: str, options: Namespace) -> Summary:
    """Write the lines of `duplicates.lines_of`; how much they are."""
    import numpy as np

    two_labels, clusters, in_clusters = 0, 0, 0

    def pieces() -> Iterator[str]:
        nonlocal two_labels, clusters, in_clusters
        pairs = found.pairs()
        while part := list(itertools.islice(pairs, PAIRS)):
            for line, two in pair_lines(part, found, judged=options.verify is not None):
                two_labels += two
                yield line
        for some in parts_of(found.clusters()):
            clusters, in_clusters = clusters + len(some), in_clusters + sum(map(len, some))
            yield from cluster_pieces(some, found)

    write_lines(pieces(), path)
    first_unread = (0, "")
    if found.unread:
        row = found.corpus.take(np.array([found.first_unread]))
        first_unread = (row["number"][0], row["text"][0])
    return Summary(
        texts=len(found.corpus),
        different=found.different,
        pairs=found.count,
        clusters=clusters,
        in_clusters=in_clusters,
        threshold=asked.threshold,
        search=found.search,
        apart=found.apart,
        two_labels=two_labels,
        unread=found.unread,
        first_unread=first_unread,
    )


def pair_lines(part: Sequence[Pair], found: Found, *, judged: bool) -> Iterator[tuple[str, bool]]:
    """A line for each pair, and whether it has two labels."""
    import numpy as np

    rows, at = np.unique([pair[:2] for pair in part], return_inverse=True)
    columns = Rows(found, rows)
    for pair, ends in zip(part, at.reshape(-1, 2).tolist(), strict=True):
        line = {"pair": columns.numbers(ends), "similarity": round(pair.cosine, 4)}
        line |= {"same": round(pair.same, 4)} if judged else {}
        more = columns.about(ends)
        one, other = more.get("labels", (None, None))
        yield json.dumps(line | more, ensure_ascii=False) + "\n", one != other


class Rows:
    """Some rows of the corpus, by their place among them."""

    def __init__(self, found: Found, rows: NDArray[np.int32]) -> None:
        columns = found.corpus.take(rows)
        self._numbers, self._texts = columns["number"], columns["text"]
        self._about = [json.loads(about) for about in columns["about"]]

    def numbers(self, some: Iterable[int]) -> list[int]:
        """What the rows are called."""
        return [self._numbers[at] for at in some]

    def about(self, some: Sequence[int]) -> dict[str, list[Any]]:
        """Their texts, ids and labels."""
        more = {f"{key}s": [self._about[at][key] for at in some] for key in self._about[some[0]]}
        return {"texts": [self._texts[at] for at in some], **more}


def parts_of(clusters: Iterator[NDArray[np.int32]]) -> Iterator[list[NDArray[np.int32]]]:
    """Clusters of `HELD` rows together, or one that has more."""
    waiting: list[NDArray[np.int32]] = []
    held = 0
    for cluster in clusters:
        if waiting and held + len(cluster) > HELD:
            yield waiting
            waiting, held = [], 0
        waiting.append(cluster)
        held += len(cluster)
    if waiting:
        yield waiting


def cluster_pieces(clusters: Sequence[NDArray[np.int32]], found: Found) -> Iterator[str]:
    """Their lines; one of a cluster that is too large to be held comes in pieces."""
    import numpy as np

    if len(clusters[0]) <= HELD:
        columns, first = Rows(found, np.concatenate(clusters)), 0
        for cluster in clusters:
            some = range(first, first := first + len(cluster))
            yield json.dumps({"cluster": columns.numbers(some), **columns.about(some)}, ensure_ascii=False) + "\n"
        return
    every = [clusters[0][first : first + HELD] for first in range(0, len(clusters[0]), HELD)]
    named: dict[str, Callable[[Rows, range], Any]] = {"cluster": Rows.numbers}
    for name in Rows(found, every[0][:1]).about([0]):
        named[name] = functools.partial(_of, name)
    for number, (name, values) in enumerate(named.items()):
        yield f'{", " if number else "{"}"{name}": ['
        for place, part in enumerate(every):
            inside = json.dumps(values(Rows(found, part), range(len(part))), ensure_ascii=False)[1:-1]
            yield f"{', ' if place else ''}{inside}"
        yield "]"
    yield "}\n"


def _of(name: str, rows: Rows, some: range) -> list[Any]:
    return rows.about(some)[name]


def firsts_of(found: Found) -> Iterator[str]:
    """The lines of --first: each text that is in no cluster, and the first of each that is in one."""
    first_N = found.firsts()
    for start in range(0, len(first_N), HELD):
        texts = found.corpus.texts(start, min(start + HELD, len(first_N)))
        yield from (f"{text}\n" for text, first in zip(texts, first_N[start:], strict=False) if first)
