"""Constituency trees of texts, one in a line; the default parser needs no server and no download.

Example:
  echo "How do cats see in the dark?" | paraform parse -
  paraform parse sentences.txt --parser syntax-all --json > trees.json
"""

from __future__ import annotations

from collections.abc import Sequence

from jsonargparse import ArgumentParser, Namespace

from paraform.cli.arguments import add_texts
from paraform.cli.tag import print_annotated
from paraform.records import Sentence


def add_arguments(parser: ArgumentParser, given: Sequence[str]) -> None:
    """The options of this command."""
    add_texts(parser)
    add_parser(parser)
    parser.add_argument("--indent", action="store_true", help="a line a phrase, set in by its depth, to be looked at")


def add_parser(parser: ArgumentParser) -> None:
    """The option of every command that parses."""
    parser.add_argument(
        "--parser", type=str, default="syntax", help="syntax, syntax-all, a folder, stanza[:PACKAGE] or corenlp[:URL]"
    )


def run(options: Namespace) -> int:
    """Print the trees."""

    def line(sentence: Sentence) -> str:
        from paraform.syntax.trees import indented, read_tree

        return indented(read_tree(sentence)) if options.indent else str(sentence.tree)

    return print_annotated(options, "parser", line, "parsing", size=1024)
