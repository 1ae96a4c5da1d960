"""One vector a text: a float32 row of a .npy file, or JSON.

An encoder's rows have length 1; an exemplar model has a content vector and a style vector for each text; the vector of
a latent-variable model is the mean of its posterior; those of a sentence-transformers model are that library's own.

Example:
  paraform embed sentences.txt --model minilm --out vectors.npy
  paraform embed sentences.txt --model minilm@layer=3,pooling=mean --out third-layer.npy
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

from jsonargparse import ArgumentParser, Namespace

from paraform.cli.arguments import EMBEDDERS, add_texts, bound_memory, load_embedder, readable, show_progress
from paraform.cli.output import print_items, show
from paraform.cli.reading import parts, stream_texts
from paraform.records import InputError

if TYPE_CHECKING:
    from numpy import float32
    from numpy.typing import NDArray

    from paraform.capabilities import Embedder

CHUNK = 16_384  # texts whose vectors are held at once


def add_arguments(parser: ArgumentParser, given: Sequence[str]) -> None:
    """The options of this command."""
    add_texts(parser)
    parser.description = f"{parser.description}\n\n{EMBEDDERS}"
    parser.add_argument("--model", type=str, default="minilm", help="as above")
    parser.add_argument(
        "--layer", type=int | None, default=None, help="of an encoder: 0 the embeddings; null: the last"
    )
    parser.add_argument("--pooling", type=str | None, default=None, help="of an encoder: mean, cls, max or last")
    parser.add_argument("--vectors", type=str | None, default=None, help="content or style, of a model that has both")
    parser.add_argument("--out", type=str | None, default=None, help="the .npy file; null: the rows are in the JSON")


def run(options: Namespace) -> int:
    """Write the vectors."""
    bound_memory()
    from paraform.capabilities import LatentSpace

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
    write_vectors(vectors, options.out)
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
    names = model.vector_names
    if options.vectors and options.vectors not in names:
        expected = " or ".join(names) if len(names) > 1 else "no --vectors: its vectors are of one kind"
        raise InputError(f"--vectors {options.vectors}: {options.model} is {model.kind}; expected {expected}")
    how: dict[str, Any] = {"batch_size": options.batch_size or 0, "seed": options.seed, "progress": show_progress()}
    return lambda texts: model.embed(texts, options.vectors or "", **how)


def write_vectors(vectors: Iterator[NDArray[float32]], path: str) -> None:
    """The rows as one .npy file, a part at a time. An error leaves no file."""
    import numpy as np

    from paraform.weights import atomic_path

    first = next(vectors)
    header = {"descr": "<f4", "fortran_order": False, "shape": (0, first.shape[1])}
    with atomic_path(path) as unfinished, open(unfinished, "wb") as out:
        np.lib.format.write_array_header_1_0(out, header)
        begin, count = out.tell(), 0
        for rows in itertools.chain([first], vectors):
            out.write(np.ascontiguousarray(rows, dtype="<f4").tobytes())
            count += len(rows)
        out.seek(0)  # NumPy leaves room in a header for any number of rows
        np.lib.format.write_array_header_1_0(out, header | {"shape": (count, first.shape[1])})
        assert out.tell() == begin
