"""Penn Treebank tags of texts, word/TAG; the default tagger needs no download.

Example:
  echo "The cat sat on the mat." | paraform tag -
  paraform tag sentences.txt --json > tags.json
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

from jsonargparse import ArgumentParser, Namespace

from paraform.cli.arguments import add_texts, bound_memory, device_of, show_progress
from paraform.cli.output import print_items
from paraform.cli.reading import parts, stream_texts
from paraform.records import Sentence, to_json

if TYPE_CHECKING:
    from paraform.syntax.annotation import Annotator


def add_arguments(parser: ArgumentParser, given: Sequence[str]) -> None:
    """The options of this command."""
    add_texts(parser)
    add_tagger(parser)


def add_tagger(parser: ArgumentParser) -> None:
    """The option of every command that tags."""
    parser.add_argument(
        "--tagger", type=str, default="syntax", help="syntax, syntax-all, a folder, nltk, spacy or spacy:MODEL"
    )


def run(options: Namespace) -> int:
    """Print the tags."""
    bound_memory()
    from paraform.syntax.annotation import Annotator

    texts = stream_texts(options.text, options)
    how = Annotator(options.tagger, device=device_of(options))
    tagged = annotated(texts, how, options.batch_size or 2048, "tagging")
    if options.json:
        print_items("sentences", map(to_json, tagged), {"tagger": options.tagger})
        return 0
    for sentence in tagged:
        print(" ".join(f"{word}/{tag}" for word, tag in zip(sentence.tokens, sentence.tags, strict=True)))
    return 0


def annotated(texts: Iterable[str], how: Annotator, size: int, title: str) -> Iterator[Sentence]:
    """Each text with its words and tags, and its tree if there is a parser, `size` texts at a time."""
    from rich.progress import track

    from paraform.encoders import STDERR

    annotate = how.open()
    for part in track(parts(texts, size), title, console=STDERR, disable=not show_progress(), transient=True):
        yield from annotate([Sentence(text) for text in part])
