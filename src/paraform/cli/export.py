"""Write a model's encoder for other tools: a folder that `SentenceTransformer(FOLDER)` loads.

The vectors are the model's own, to rounding. The card says what it is; the terms of the training data are the model's.

Example:
  paraform export runs/mine --to sentence-transformers --out my-encoder
"""

from __future__ import annotations

from collections.abc import Sequence

from jsonargparse import ArgumentParser, Namespace

from paraform.cli.arguments import load_able
from paraform.cli.output import print_json


def add_arguments(parser: ArgumentParser, given: Sequence[str]) -> None:
    """The options of this command."""
    parser.add_argument("model", type=str, metavar="MODEL", help="a trained encoder: a run, a checkpoint, or a hub id")
    parser.add_argument("--to", choices=("sentence-transformers",), default="sentence-transformers", help="the layout")
    parser.add_argument("--out", type=str, required=True, metavar="FOLDER", help="the folder to be made")


def run(options: Namespace) -> int:
    """Write the folder."""
    from paraform.capabilities import Exports

    model: Exports = load_able(options, Exports, "a model that is exported")
    folder = model.export(options.out)
    if options.json:
        print_json({"folder": str(folder), "to": options.to})
    else:
        print(folder)
    return 0
