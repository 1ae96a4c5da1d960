"""Constituency trees of texts, one in a line; the default parser needs no server and no download.

A line is parsed as one sentence; how many lines hold several is said on stderr.

Example:
  echo "How do cats see in the dark?" | paraform parse -
  paraform parse sentences.txt --parser syntax-all --json > trees.json
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from jsonargparse import ArgumentParser, Namespace

from paraform.cli.messages import tell
from paraform.cli.options import add_texts
from paraform.cli.tag import print_annotated
from paraform.memory import bound_memory
from paraform.records import Sentence, counted


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
    from paraform.rewording.parts import sentences_of

    def line(sentence: Sentence) -> str:
        from paraform.syntax.trees import indented, read_tree

        return indented(read_tree(sentence)) if options.indent else str(sentence.tree)

    found = Counter[str]()

    def look(text: str) -> None:
        found["lines"] += 1
        found["several"] += len(sentences_of(text)) > 1

    status = print_annotated(options, "parser", line, "parsing", size=1024, look=look)
    if found["several"]:
        several = f"{found['several']:,} of {counted(found['lines'], 'line')}"
        tell(f"{several}: several sentences in a line, parsed as one; a sentence a line parses better")
    return status
