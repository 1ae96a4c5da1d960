"""Constituency trees of texts, one in a line; the default parser needs no server and no download.

Example:
  echo "How do cats see in the dark?" | paraform parse -
  paraform parse sentences.txt --parser syntax-all --json > trees.json
"""

from __future__ import annotations

from collections.abc import Sequence

from jsonargparse import ArgumentParser, Namespace

from paraform.cli.arguments import add_texts, bound_memory, device_of
from paraform.cli.output import print_items
from paraform.cli.reading import stream_texts
from paraform.cli.tag import annotated
from paraform.records import to_json


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
    bound_memory()
    from paraform.syntax.annotation import Annotator

    texts = stream_texts(options.text, options)
    how = Annotator(parser=options.parser, device=device_of(options))
    parsed = annotated(texts, how, options.batch_size or 1024, "parsing")
    if options.json:
        print_items("sentences", map(to_json, parsed), {"parser": options.parser})
        return 0
    from paraform.syntax.trees import indented, read_tree

    for sentence in parsed:
        print(indented(read_tree(sentence)) if options.indent else sentence.tree)
    return 0
