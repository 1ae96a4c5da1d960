"""A picture of texts as their vectors lie: a point each, coloured by a label, by principal components or by UMAP.

The axes of --by pca are the two directions in which the vectors vary most, with their share of the variance: what is
apart in the picture is apart in the vectors, but not the other way round where the shares are small. --by umap keeps
neighbours together (pip install umap-learn); its distances have no unit. The twelve commonest labels have a look of
their own, the others are grey. --out ends in .png or .svg, and the same call gives the same bytes.

Example:
  paraform plot space intents.csv --text-column text --label-column category --out space.png
  paraform plot space intents.csv --label-column category --model latent-compact --out latent.svg
  paraform plot space intents.csv --label-column category --vectors texts.txt mine=vectors.npy --out mine.png
"""

from __future__ import annotations

from collections.abc import Sequence

from jsonargparse import ArgumentParser, Namespace
from jsonargparse.typing import PositiveInt

from paraform.cli.latent import readable
from paraform.cli.messages import tell
from paraform.cli.models import EMBEDDERS, add_given_vectors, load_embedder, name_of_vectors
from paraform.cli.options import add_reading
from paraform.cli.output import show
from paraform.cli.reading import is_readable, rows_of
from paraform.records import GivenText, InputError


def add_arguments(parser: ArgumentParser, given: Sequence[str]) -> None:
    """The options of this command."""
    parser.add_argument("file", type=str, metavar="FILE", help="a table, a file with a text a line, or - for stdin")
    add_reading(parser, "text", tables=True)
    parser.add_argument(
        "--label-column", type=str | None, default=None, help="of a table: what the points are coloured by"
    )
    parser.description = f"{parser.description}\n\n{EMBEDDERS}"
    parser.add_argument("--model", type=str, default="minilm", help="as above; of compact@vectors=style its style")
    add_given_vectors(parser)
    parser.add_argument("--by", choices=("pca", "umap"), default="pca", help="principal components, or UMAP")
    parser.add_argument("--size", type=PositiveInt, default=5000, help="texts at most; of more, some drawn by --seed")
    parser.add_argument("--out", type=str, required=True, metavar="FILE", help="the picture, .png or .svg")


def run(options: Namespace) -> int:
    """Write the picture; with --json, print the points too."""
    from paraform.capabilities import LatentSpace
    from paraform.evaluation.embedding.plane import plane_plot, principal_plane, require_umap, shown_labels, umap_plane
    from paraform.evaluation.pictures import require_picture, save_plot
    from paraform.extensions import needed
    from paraform.weights import require_writable

    require_picture(options.out)
    needed("matplotlib", "a picture", "eval")
    if options.by == "umap":
        require_umap()
    require_writable(options.out)
    rows = drawn(labelled(options), options)
    model = load_embedder(options)
    if isinstance(model, LatentSpace):
        rows = list(readable(model, rows, options, lambda row: row.text))
    vectors = model.embed(
        [row.text for row in rows], batch_size=options.batch_size or 0, seed=options.seed, progress=True
    )
    plane = umap_plane(vectors, seed=options.seed) if options.by == "umap" else principal_plane(vectors)
    own = ["" if options.label_column is None else str(row.fields[options.label_column]) for row in rows]
    labels = shown_labels(own)
    name = name_of_vectors(options)
    save_plot(plane_plot(plane, labels, f"{len(rows):,} texts by {name}"), options.out, dpi=150)
    points = [
        {"text": row.text, "x": x, "y": y} | ({"label": label} if options.label_column is not None else {})
        for row, label, (x, y) in zip(rows, own, plane.points_N2.tolist(), strict=True)
    ]
    about = {"out": options.out, "model": name, "by": options.by, "axes": plane.axes, "points": points}
    return show(options, about, f"{options.out}: {len(rows):,} texts; {'; '.join(plane.axes)}")


def labelled(options: Namespace) -> list[GivenText]:
    """The rows of the file. Raises: InputError if it is not there, or has no column of the label's name."""
    if options.file != "-" and not is_readable(options.file):
        raise InputError(f"{options.file}: no such file; expected a table or a file of texts")
    rows = list(rows_of([options.file], options))
    for row in rows:
        if options.label_column is not None and options.label_column not in row.fields:
            known = ", ".join(map(repr, row.fields)) or "none: the texts are no table's (--text-column)"
            raise InputError(f"{options.file}: no column {options.label_column!r}; expected one of {known}")
    return rows


def drawn(rows: list[GivenText], options: Namespace) -> list[GivenText]:
    """At most --size of them, in their order."""
    if len(rows) <= options.size:
        return rows
    import numpy as np

    tell(f"{options.size:,} of {len(rows):,} texts, drawn by --seed {options.seed} (--size)")
    kept = np.random.default_rng(options.seed).choice(len(rows), options.size, replace=False)
    return [rows[at] for at in sorted(kept.tolist())]
