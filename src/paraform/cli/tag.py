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

if TYPE_CHECKING:
    from paraform.syntax.tagging import Tagger


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
    from paraform.syntax.tagging import load_tagger

    texts = stream_texts(options.text, options)
    tagger = load_tagger(options.tagger, device=device_of(options))
    tagged = tagged_texts(texts, tagger, options.batch_size or 2048)
    if options.json:
        sentences = ({"text": text, "tokens": words, "tags": tags} for text, words, tags in tagged)
        print_items("sentences", sentences, {"tagger": options.tagger})
        return 0
    for _, words, tags in tagged:
        print(" ".join(f"{word}/{tag}" for word, tag in zip(words, tags, strict=True)))
    return 0


def tagged_texts(texts: Iterable[str], tagger: Tagger, size: int) -> Iterator[tuple[str, list[str], list[str]]]:
    """Each text, its words and their tags, `size` texts at a time."""
    from rich.progress import track

    from paraform.encoders import STDERR
    from paraform.words import tokenize

    for part in track(parts(texts, size), "tagging", console=STDERR, disable=not show_progress(), transient=True):
        words = [tokenize(text) for text in part]
        yield from zip(part, words, tagger(words), strict=True)
