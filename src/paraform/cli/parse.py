"""Constituency trees of texts, one in a line; the default parser needs no server and no download.

Example:
  echo "How do cats see in the dark?" | paraform parse -
  paraform parse sentences.txt --parser syntax-all --json > trees.json
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from jsonargparse import ArgumentParser, Namespace

from paraform.cli.arguments import add_texts, bound_memory, device_of, show_progress
from paraform.cli.output import print_items
from paraform.cli.reading import parts, stream_texts
from paraform.records import Sentence, to_json


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
    texts = stream_texts(options.text, options)
    parsed = parsed_texts(texts, options)
    if options.json:
        print_items("sentences", map(to_json, parsed), {"parser": options.parser})
        return 0
    from paraform.syntax.trees import indented, read_tree

    for sentence in parsed:
        print(indented(read_tree(sentence)) if options.indent else sentence.tree)
    return 0


def parsed_texts(texts: Iterable[str], options: Namespace) -> Iterator[Sentence]:
    """Each text with its words, tags and tree, `--batch-size` texts at a time."""
    from rich.progress import track

    from paraform.encoders import STDERR
    from paraform.syntax.parsing import load_parser
    from paraform.words import tokenize

    parse = load_parser(options.parser, device=device_of(options))
    size = options.batch_size or 1024
    for part in track(parts(texts, size), "parsing", console=STDERR, disable=not show_progress(), transient=True):
        words = [tokenize(text) for text in part]
        for text, tokens, tree in zip(part, words, parse(words), strict=True):
            tags, brackets = (tree.tags(), str(tree)) if tree else ((), None)
            yield Sentence(text, tuple(tokens), tags, brackets)
