"""Write a model's encoder for other tools: a folder that `SentenceTransformer(FOLDER)` loads; or a model for the hub.

--to onnx puts an ONNX file into it, which `SentenceTransformer(FOLDER, backend="onnx")` takes and any ONNX runtime
computes; --to hub:OWNER/NAME uploads the folder as a new model repository, a private one unless --public, which every
command and `paraform.load` take by that name. A model without such an encoder is uploaded as the checkpoint it is.
A retrofitted ELMo becomes a folder of ELMo's published files, options.json and weights.hdf5, instead.
The vectors are the model's own, to rounding. The card says what it is; the terms of the training data are the model's.

Example:
  paraform export runs/mine --out my-encoder
  paraform export runs/mine --to onnx --out my-encoder
  paraform export runs/mine --to hub:me/my-encoder --terms "Quora's pairs: for research, not for sale."
"""

from __future__ import annotations

import re
import tempfile
from collections.abc import Sequence
from pathlib import Path

from jsonargparse import ArgumentParser, Namespace

from paraform.cli.models import chosen_name, load_able
from paraform.cli.output import print_json
from paraform.records import InputError

LAYOUTS = ("sentence-transformers", "onnx")
EXPORTED = "a model that is exported, one with an encoder such as minilm; --to hub:OWNER/NAME takes any"


def add_arguments(parser: ArgumentParser, given: Sequence[str]) -> None:
    """The options of this command."""
    parser.add_argument("model", type=str, metavar="MODEL", help="a trained model: a run, a checkpoint, or a hub id")
    parser.add_argument(
        "--to",
        type=str,
        default=LAYOUTS[0],
        metavar="LAYOUT",
        help=f"{', '.join(LAYOUTS)}, or where it goes: hub:OWNER/NAME, a repository that is made for it",
    )
    parser.add_argument("--out", type=str | None, default=None, metavar="FOLDER", help="the folder to be made")
    parser.add_argument("--public", action="store_true", help="with --to hub:…: for everyone to see")
    parser.add_argument(
        "--terms", type=str | None, default=None, help="those of the training data, for the card; --to hub:… wants them"
    )


def run(options: Namespace) -> int:
    """Write the folder, or upload one."""
    from paraform.capabilities import Exports
    from paraform.encoders.folder import ModelFolder

    to, colon, repo = options.to.partition(":")
    if to == "hub":
        return _run_hub(options, repo)
    if colon or to not in LAYOUTS:
        raise InputError(f"--to {options.to[:60]}; expected {', '.join(LAYOUTS)}, or hub:OWNER/NAME")
    if not options.out:
        raise InputError(f"--to {to} without --out; expected it")
    if options.public:
        raise InputError(f"--public with --to {to}; expected none")
    model: Exports = load_able(options, Exports, EXPORTED)
    folder = model.export(options.out, onnx=to == "onnx", terms=options.terms or "")
    if options.json:
        print_json({"folder": str(folder), "to": "elmo" if ModelFolder(folder).is_elmo else to})
    else:
        print(folder)
    return 0


def _run_hub(options: Namespace, repo: str) -> int:
    from paraform.capabilities import Exports
    from paraform.checkpoint.folder import checkpoint_of
    from paraform.checkpoint.hub import push_new, push_new_checkpoint, require_token

    if not re.fullmatch(r"[A-Za-z0-9][\w.-]*/[A-Za-z0-9][\w.-]*", repo, re.ASCII):
        raise InputError(f"--to {options.to[:60]}; expected hub:OWNER/NAME")
    if not options.terms:
        raise InputError("--to hub:… without --terms; expected those of the training data, for the card")
    if options.out:
        raise InputError("--out with --to hub:…; expected none")
    require_token(repo)
    model = load_able(options, object, "a model")
    if isinstance(model, Exports):
        with tempfile.TemporaryDirectory() as scratch:
            folder = model.export(Path(scratch) / repo.split("/")[1], terms=options.terms)
            address = push_new(folder, repo, private=not options.public)
    else:
        given = chosen_name(options.model, options)
        checkpoint = checkpoint_of(given)
        if checkpoint is None:
            raise InputError(f"{given}: {model.kind}; expected a model with an encoder, or a checkpoint")
        address = push_new_checkpoint(checkpoint, repo, terms=options.terms, private=not options.public)
    if options.json:
        print_json({"address": address, "to": "hub"})
    else:
        print(address)
    return 0
