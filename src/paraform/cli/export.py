"""Write a model's encoder for other tools: a folder that `SentenceTransformer(FOLDER)` loads.

--to onnx puts an ONNX file into it, which `SentenceTransformer(FOLDER, backend="onnx")` takes and any ONNX runtime
computes; --to hub uploads the folder as a new model repository, a private one unless --public.
A retrofitted ELMo becomes a folder of ELMo's published files, options.json and weights.hdf5, instead.
The vectors are the model's own, to rounding. The card says what it is; the terms of the training data are the model's.

Example:
  paraform export runs/mine --out my-encoder
  paraform export runs/mine --to onnx --out my-encoder
  paraform export runs/mine --to hub --repo me/my-encoder --terms "Quora's pairs: for research, not for sale."
"""

from __future__ import annotations

import re
import tempfile
from collections.abc import Sequence
from pathlib import Path

from jsonargparse import ArgumentParser, Namespace

from paraform.cli.arguments import load_able
from paraform.cli.output import print_json
from paraform.records import InputError


def add_arguments(parser: ArgumentParser, given: Sequence[str]) -> None:
    """The options of this command."""
    parser.add_argument("model", type=str, metavar="MODEL", help="a trained encoder: a run, a checkpoint, or a hub id")
    layouts = ("sentence-transformers", "onnx", "hub")
    parser.add_argument("--to", choices=layouts, default=layouts[0], help="the layout, or where it goes")
    parser.add_argument("--out", type=str | None, default=None, metavar="FOLDER", help="the folder to be made")
    parser.add_argument(
        "--repo", type=str | None, default=None, metavar="OWNER/NAME", help="with --to hub: the repository to be made"
    )
    parser.add_argument("--public", action="store_true", help="with --to hub: for everyone to see")
    parser.add_argument(
        "--terms", type=str | None, default=None, help="those of the training data, for the card; --to hub wants them"
    )


def run(options: Namespace) -> int:
    """Write the folder."""
    from paraform.capabilities import Exports
    from paraform.checkpoint.hub import push_new
    from paraform.encoders.elmo_files import is_elmo

    hub = options.to == "hub"
    for name in ("repo", "terms") if hub else ("out",):
        if not options[name]:
            raise InputError(f"--to {options.to} without --{name}; expected it")
    for name in ("out",) if hub else ("repo", "public"):
        if options[name]:
            raise InputError(f"--{name} with --to {options.to}; expected none")
    if hub and not re.fullmatch(r"[A-Za-z0-9][\w.-]*/[A-Za-z0-9][\w.-]*", options.repo, re.ASCII):
        raise InputError(f"--repo {options.repo}; expected OWNER/NAME")
    model: Exports = load_able(options, Exports, "a model that is exported")
    terms = options.terms or ""
    if hub:
        with tempfile.TemporaryDirectory() as scratch:
            folder = model.export(Path(scratch) / options.repo.split("/")[1], terms=terms)
            made = {"address": push_new(folder, options.repo, private=not options.public)}
    else:
        made = {"folder": str(model.export(options.out, onnx=options.to == "onnx", terms=terms))}
    if options.json:
        print_json({**made, "to": "elmo" if options.out and is_elmo(Path(options.out)) else options.to})
    else:
        print(*made.values())
    return 0
