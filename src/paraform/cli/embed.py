"""One vector a text: a float32 row of a .npy file, JSON, or a folder of shards.

An encoder's rows have length 1; an exemplar model has a content vector and a style vector for each text; the vector of
a latent-variable model is the mean of its posterior; those of a sentence-transformers model are that library's own.

--out NAME.npy is one file; any other --out is a folder, for a corpus of any size: one file in, shards of 4,096 rows
out, made by all cores or a Ray cluster. A job that was killed goes on with the shards that are not there yet. Of text,
and of records by --format, a shard is a .npy file. Of a table, a file named .parquet, .jsonl, .json or .ndjson, or any
table with --text-column, it is a Parquet file of the columns as they came, and the column "vector".

Example:
  paraform embed sentences.txt --model minilm --out vectors.npy
  paraform embed sentences.txt --model minilm@layer=3,pooling=mean --out third-layer.npy
  paraform embed corpus.parquet --text-column body --out vectors/ --engine ray --address auto
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

from jsonargparse import ArgumentParser, Namespace

from paraform.cli.latent import readable
from paraform.cli.models import EMBEDDERS, chosen_name, load_embedder
from paraform.cli.options import add_engine, add_text_column, add_texts, engine_of, require_no_engine
from paraform.cli.output import print_items, show
from paraform.cli.reading import digest_of, one_file, parts, stream_texts, tell_no_lines
from paraform.memory import bound_memory
from paraform.records import InputError

if TYPE_CHECKING:
    from numpy import float32
    from numpy.typing import NDArray

    from paraform.capabilities import Embedder

CHUNK = 16_384  # texts whose vectors are held at once


def add_arguments(parser: ArgumentParser, given: Sequence[str]) -> None:
    """The options of this command."""
    add_texts(parser)
    add_text_column(parser)
    parser.description = f"{parser.description}\n\n{EMBEDDERS}"
    parser.add_argument("--model", type=str, default="minilm", help="as above")
    parser.add_argument(
        "--layer", type=int | None, default=None, help="of an encoder: 0 the embeddings; null: the last"
    )
    parser.add_argument("--pooling", type=str | None, default=None, help="of an encoder: mean, cls, max or last")
    parser.add_argument("--vectors", type=str | None, default=None, help="content or style, of a model that has both")
    parser.add_argument(
        "--out", type=str | None, default=None, help="NAME.npy, or a folder; null: the rows are in the JSON"
    )
    add_engine(parser)


def run(options: Namespace) -> int:
    """Write the vectors."""
    bound_memory()
    from paraform.capabilities import LatentSpace
    from paraform.memory import keep_freed_memory
    from paraform.weights import write_rows

    keep_freed_memory()
    if options.out is not None and not options.out.endswith(".npy"):
        return write_shards(options)
    require_no_engine(options, "whose name does not end in .npy", **{"text-column": options.text_column})
    del options["text_column"]  # else a .csv would be read as a table
    if options.out is None and not options.json:
        raise InputError("no --out; expected --out vectors.npy, or --json for rows on stdout")
    texts = stream_texts(options.text, options)
    model = load_embedder(options)
    if isinstance(model, LatentSpace):
        texts = readable(model, texts, options)
    embed = embedder(model, options)
    about: dict[str, Any] = {"model": options.model, "rows": 0}
    vectors = counted((embed(part) for part in parts(texts, CHUNK)), about)
    if options.out is None:
        print_items("vectors", (row for rows in vectors for row in rows.tolist()), about)
        return 0
    write_rows(options.out, vectors)
    size = f"[{about['rows']}, {about['dimension']}]"
    return show(options, {"out": options.out, **about}, f"{options.out}: float32 {size}")


def counted(vectors: Iterable[NDArray[float32]], about: dict[str, Any]) -> Iterator[NDArray[float32]]:
    """The same vectors; how many have come, and how wide they are, is told to `about`."""
    for rows in vectors:
        about["rows"] += len(rows)
        about["dimension"] = rows.shape[1]
        yield rows


def embedder(model: Embedder, options: Namespace) -> Callable[[Sequence[str]], NDArray[float32]]:
    """Texts to rows, by the model. Raises: InputError if it has no vectors of the kind that --vectors names."""
    require_vectors(model, options)
    how: dict[str, Any] = {"batch_size": options.batch_size or 0, "seed": options.seed, "progress": True}
    return lambda texts: model.embed(texts, options.vectors or "", **how)


def require_vectors(model: Embedder, options: Namespace) -> None:
    """Raises: InputError if the model has no vectors of the kind that --vectors names."""
    names = model.vector_names
    if options.vectors and options.vectors not in names:
        expected = " or ".join(names) if len(names) > 1 else "no --vectors: its vectors are of one kind"
        raise InputError(f"--vectors {options.vectors}: {options.model} is {model.kind}; expected {expected}")


def write_shards(options: Namespace) -> int:
    """Make the shards of a folder that are not there yet."""
    from paraform.capabilities import LatentSpace
    from paraform.checkpoint import signature_of
    from paraform.checkpoint.folder import absolute_name
    from paraform.checkpoint.shards import SHARD, Embedding, Job, embed_corpus
    from paraform.corpora.columns import ArrowColumns, Columns, read_columns, write_columns
    from paraform.encoders.torch_settings import products_on
    from paraform.weights import cache_folder

    path = one_file(options.text, options, "or --out NAME.npy")
    engine = engine_of(options)
    options.device = options.device or "cpu"  # of which every worker has one
    options.model = absolute_name(chosen_name(options.model, options))  # workers may run elsewhere
    options.layer = options.pooling = None  # they are in the name now
    model = load_embedder(options)
    require_vectors(model, options)
    signature = signature_of(model, options.model, options.vectors or "")
    source = input_digest(path, options, model)
    arrow = cache_folder() / "columns" / f"{source[:32]}.arrow"
    if options.text_column is None and path.lower().endswith(".csv"):
        tell_no_lines(path, options, "; --text-column says which of its columns are texts")
    if not arrow.is_file():
        corpus = read_columns(path, options.format, options.text_column, skip_bad_lines=options.skip_bad_lines)
        if isinstance(model, LatentSpace):
            places = readable(model, corpus.places, options, lambda place: place.text)
            corpus = Columns(corpus.schema, places)
        write_columns(corpus, arrow)
    data = ArrowColumns(arrow)
    if "vector" in data.names:
        raise InputError(f"{path}: a column is named 'vector'; expected another name, since shards have vectors there")
    job = Job(
        model=signature,
        products=products_on(model.device),
        batch_size=options.batch_size or 0,
        seed=options.seed,
        input=source,
        rows=len(data),
        size=SHARD,
        suffix=".parquet" if data.names else ".npy",
    )
    work = Embedding(
        str(arrow.resolve()), os.path.abspath(options.out), options.model, options.vectors or "", options.device, job
    )
    made = embed_corpus(work, engine=engine, progress="embedding")
    about = {"model": options.model, "rows": made.rows, "dimension": made.dimension, "shards": made.shards}
    shards = f"{made.shards:,} shards" if made.shards > 1 else "1 shard"
    return show(
        options,
        {"out": options.out, **about},
        f"{options.out}: {shards} ({job.suffix}) of float32 [{made.rows}, {made.dimension}]",
    )


def input_digest(path: str, options: Namespace, model: Embedder) -> str:
    """SHA-256 of what the rows depend on: the file, how it is read, and what the model can't read of it."""
    from paraform.capabilities import LatentSpace

    longest = model.max_tokens if isinstance(model, LatentSpace) else None
    settings = f"{digest_of(path, options)} {options.text_column!r} {longest}"
    return hashlib.sha256(settings.encode(errors="surrogatepass")).hexdigest()
