"""The options that commands share."""

from __future__ import annotations

import argparse
import os
from typing import TYPE_CHECKING, Literal

from jsonargparse import ArgumentParser, DefaultHelpFormatter, Namespace
from jsonargparse.typing import PositiveInt, restricted_number_type

from paraform.records import InputError

if TYPE_CHECKING:
    from paraform.engines import Engine

# The keys of corpora.FORMATS, whose import would bring torch along; a test compares the two.
FORMATS = ("pairs", "quora", "labelled-pairs", "paranmt", "qqp-pos", "captions", "triples", "text", "labelled", "jsonl")

TABLES = ("csv", "tsv", "jsonl")  # those of corpora.tables, likewise

Share = restricted_number_type("Share", float, [(">", 0), ("<=", 1)])

Cosine = restricted_number_type("Cosine", float, [(">=", -1), ("<=", 1)])

Seed = restricted_number_type("Seed", int, [(">=", 0), ("<", 2**32)])

Count = restricted_number_type("Count", int, [(">", 0), ("<=", 10**9)])

Steps = restricted_number_type("Steps", int, [(">=", 2), ("<=", 10**9)])


class HelpFormatter(argparse.RawDescriptionHelpFormatter, DefaultHelpFormatter):
    """jsonargparse's help, with description and example as they are written."""


def make_parser(command: str, doc: str | None) -> ArgumentParser:
    """A parser with the options of every command.

    Args:
        doc: a text on what the command does, and its example behind "Example:".
    """
    description, _, example = (doc or "").strip().partition("Example:\n")
    parser = ArgumentParser(
        prog=f"paraform {command}",
        description=description,
        epilog=f"Example:\n{example}",
        formatter_class=HelpFormatter,
        exit_on_error=False,
        allow_abbrev=False,
    )
    from paraform import __version__

    parser.add_argument("--version", action="version", version=f"paraform {__version__}", help="Print the version.")
    parser.add_argument("--device", type=str | None, default=None, help="cpu, cuda …; null: the GPU if there is one")
    parser.add_argument(
        "--products",
        type=Literal["float32", "bfloat16", "int8"] | None,
        default=None,
        help="numbers of matrix products, int8 of encoders alone; else $PARAFORM_PRODUCTS, else what is fastest here",
    )
    parser.add_argument(
        "--threads",
        type=PositiveInt | None,
        default=None,
        help="that compute on a CPU; null: as many as cores are idle, or as OMP_NUM_THREADS says",
    )
    parser.add_argument("--batch-size", type=PositiveInt | None, default=None, help="sentences computed at once")
    parser.add_argument("--seed", type=Seed, default=0, help="the seed of every draw")
    parser.add_argument("--json", action="store_true", help="print one JSON object on stdout, and nothing else there")
    return parser


def add_reading(parser: ArgumentParser, default: str = "pairs", *, tables: bool = False) -> None:
    """The options of a command that reads records; with `tables`, of one that `reading.rows_of` reads for."""
    formats = tuple(dict.fromkeys([*FORMATS, *TABLES])) if tables else FORMATS
    parser.add_argument("--format", choices=formats, default=default, help="the file's; README.md describes each")
    if tables:
        add_text_column(parser)
    add_skipping(parser)


def add_skipping(parser: ArgumentParser) -> None:
    """The option of a command that reads lines."""
    parser.add_argument("--skip-bad-lines", action="store_true", help="count them in a warning instead of stopping")


def add_text_column(parser: ArgumentParser) -> None:
    """The option of a command that reads tables."""
    parser.add_argument(
        "--text-column",
        type=str | None,
        default=None,
        help="that of the texts in a table; null: the one named text, sentence, utterance, question or source",
    )


def add_texts(parser: ArgumentParser, *, tables: bool = False) -> None:
    """The positional argument of a command that reads texts; with `tables`, from columns of tables, too."""
    parser.add_argument(
        "text",
        nargs="*",
        type=str,
        default=[],
        metavar="TEXT|FILE|-",
        help="texts, files with one a line (of pairs: the sources), or - for stdin",
    )
    add_reading(parser, "text", tables=tables)


def add_engine(parser: ArgumentParser) -> None:
    """The options of a command that goes through a corpus in chunks."""
    parser.add_argument("--engine", choices=("local", "ray"), default="local", help="all cores here, or a Ray cluster")
    parser.add_argument("--workers", type=PositiveInt | None, default=None, help="processes; null: one a core")
    parser.add_argument(
        "--address", type=str | None, default=None, help="the Ray cluster's; null: one that runs, else one here"
    )


def is_folder(out: str | None) -> bool:
    """Whether `--out` names a folder of shards: a name without an ending, or a folder that is there."""
    return out is not None and (out.endswith(os.sep) or os.path.isdir(out) or not os.path.splitext(out)[1])


def require_no_engine(options: Namespace, folder: str, **more: object) -> None:
    """Raises: InputError for an option that is of shards alone.

    Args:
        folder: what tells the name of one from that of a file.
        more: others of that kind, with what they are.
    """
    given = {
        "engine": options.engine if options.engine != "local" else None,
        "workers": options.workers,
        "address": options.address,
        **more,
    }
    for name, value in given.items():
        if value is not None:
            raise InputError(f"--{name} {value}: of shards; expected --out FOLDER, {folder}")


def engine_of(options: Namespace) -> Engine:
    """Where the chunks are computed. Raises: InputError if the options do not fit together."""
    from paraform.engines import Engine

    return Engine(options.engine, options.workers, options.address)
