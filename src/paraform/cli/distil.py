"""Make any encoder a static one, which reads texts as fast as they are cut into pieces; nothing is trained.

DATA are sentences of the kind that it will read: one a line, or as --format says, 1,000 at least. The model embeds
50,000 of them at most, and each piece of text gets a vector, so that the mean over a sentence's pieces is near the
model's own vector of it. It is written as a folder that sentence-transformers loads. Some minutes on two cores; what is
lost: docs/encoders.md.

Example:
  paraform distil sentences.txt --model minilm --out static
  paraform distil captions.tsv --format captions --model minilm-disentangled --out static
"""

from __future__ import annotations

from collections.abc import Sequence

from jsonargparse import ArgumentParser, Namespace

from paraform.cli.options import add_reading
from paraform.cli.output import show
from paraform.cli.reading import sentences_of


def add_arguments(parser: ArgumentParser, given: Sequence[str]) -> None:
    """The options of this command."""
    parser.add_argument("data", type=str, metavar="DATA", help="sentences")
    add_reading(parser, "text")
    parser.add_argument("--model", type=str, default="minilm", help="the teacher, which has a tokenizer")
    parser.add_argument("--out", type=str, required=True, metavar="FOLDER", help="the folder to be made")
    parser.add_argument("--terms", type=str, default="", help="those of DATA, for the card")


def run(options: Namespace) -> int:
    """Write the folder."""
    from paraform.trainers.distilling import distil

    folder = distil(
        options.model,
        sentences_of(options.data, options),
        options.out,
        seed=options.seed,
        terms=options.terms,
        device=options.device,
        progress=True,
    )
    return show(options, {"folder": str(folder), "model": options.model}, str(folder))
