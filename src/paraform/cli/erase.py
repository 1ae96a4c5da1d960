"""Erase from any encoder's vectors what a linear reader could tell of a sentence's form; nothing is trained.

DATA are sentences of the kind that the encoder will read: one a line, or as --format says. They are parsed, 20,000 of
them at most, and the encoder with a linear map behind it (LEACE) is written as a folder that sentence-transformers
loads. Some minutes on two cores; what it does to vectors: docs/results/parabart.md.

Example:
  paraform erase sentences.txt --model minilm --out my-encoder
  paraform erase pairs.tsv --format pairs --model ./some-encoder --erased constituents --out my-encoder
"""

from __future__ import annotations

from collections.abc import Sequence

from jsonargparse import ArgumentParser, Namespace

from paraform.cli.options import add_reading
from paraform.cli.output import show
from paraform.cli.parse import add_parser
from paraform.cli.reading import sentences_of


def add_arguments(parser: ArgumentParser, given: Sequence[str]) -> None:
    """The options of this command."""
    parser.add_argument("data", type=str, metavar="DATA", help="sentences")
    add_reading(parser, "text")
    parser.add_argument("--model", type=str, default="minilm", help="an encoder, whose states are averaged")
    parser.add_argument("--out", type=str, required=True, metavar="FOLDER", help="the folder to be made")
    parser.add_argument(
        "--erased",
        choices=("constituents", "form"),
        default="form",
        help="shares of constituents; or these, and which of them stand at the top",
    )
    add_parser(parser)
    parser.add_argument("--terms", type=str, default="", help="those of DATA, for the card")


def run(options: Namespace) -> int:
    """Write the folder."""
    from paraform.trainers.erasing import erase

    folder = erase(
        options.model,
        sentences_of(options.data, options),
        options.out,
        erased=options.erased,
        parser=options.parser,
        seed=options.seed,
        terms=options.terms,
        device=options.device,
        progress=True,
    )
    return show(options, {"folder": str(folder), "model": options.model, "erased": options.erased}, str(folder))
