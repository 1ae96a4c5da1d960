"""One vector a text: a float32 row of a .npy file, or JSON.

--model names an encoder (minilm, a folder, a hub id; rows of length 1), an exemplar model, which has a content
vector and a style vector for each text, or a latent-variable model, whose vector is the mean of its posterior.

Example:
  paraform embed sentences.txt --model minilm --out vectors.npy
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from jsonargparse import ArgumentParser, Namespace

from paraform.cli.arguments import add_texts, load_embedder, readable, show_progress
from paraform.cli.output import print_json
from paraform.cli.reading import read_texts
from paraform.records import InputError

if TYPE_CHECKING:
    from numpy import float32
    from numpy.typing import NDArray

    from paraform.capabilities import Embedder

CHUNK = 16_384  # texts whose vectors are held at once


def add_arguments(parser: ArgumentParser, given: Sequence[str]) -> None:
    """The options of this command."""
    add_texts(parser)
    parser.add_argument(
        "--model", type=str, default="minilm", help="an encoder, an exemplar model, or a latent-variable model"
    )
    parser.add_argument("--vectors", type=str | None, default=None, help="content or style, of a model that has both")
    parser.add_argument("--out", type=str | None, default=None, help="the .npy file; null: the rows are in the JSON")


def run(options: Namespace) -> int:
    """Write the vectors."""
    from paraform.capabilities import LatentSpace

    if options.out is None and not options.json:
        raise InputError("no --out; expected --out vectors.npy, or --json for rows on stdout")
    texts = read_texts(options.text, options)
    model = load_embedder(options)
    if isinstance(model, LatentSpace):
        texts = readable(model, texts, options)
    embed = embedder(model, options)
    about = {"model": options.model, "rows": len(texts)}
    if options.out is None:
        vectors = embed(texts)
        print_json({"vectors": vectors.tolist(), **about, "dimension": vectors.shape[1]})
        return 0
    dimension = write_vectors(texts, embed, options.out)
    if options.json:
        print_json({"out": options.out, **about, "dimension": dimension})
    else:
        print(f"{options.out}: float32 [{len(texts)}, {dimension}]")
    return 0


def embedder(model: Embedder, options: Namespace) -> Callable[[list[str]], NDArray[float32]]:
    """Texts to rows, by the model. Raises: InputError if it has no vectors of the kind that --vectors names."""
    names = model.vector_names
    if options.vectors and options.vectors not in names:
        expected = " or ".join(names) if len(names) > 1 else "no --vectors: its vectors are of one kind"
        raise InputError(f"--vectors {options.vectors}: {options.model} is {model.kind}; expected {expected}")
    how: dict[str, Any] = {"batch_size": options.batch_size or 0, "seed": options.seed, "progress": show_progress()}
    return lambda texts: model.embed(texts, options.vectors or "", **how)


def write_vectors(texts: list[str], embed: Callable[[list[str]], NDArray[float32]], path: str) -> int:
    """The rows as one .npy file, a part at a time; returns their width. An error leaves no file."""
    import numpy as np

    from paraform.weights import atomic_path

    width = 0
    with atomic_path(path) as unfinished, open(unfinished, "wb") as out:
        for start in range(0, len(texts), CHUNK):
            rows = np.ascontiguousarray(embed(texts[start : start + CHUNK]), dtype="<f4")
            if not width:
                width = rows.shape[1]
                header = {"descr": "<f4", "fortran_order": False, "shape": (len(texts), width)}
                np.lib.format.write_array_header_1_0(out, header)
            out.write(rows.tobytes())
    return width
