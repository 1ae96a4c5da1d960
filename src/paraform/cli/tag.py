"""Penn Treebank tags of texts, word/TAG; the default tagger needs no download.

Example:
  echo "The cat sat on the mat." | paraform tag -
  paraform tag sentences.txt --json > tags.json
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Literal

from jsonargparse import ArgumentParser, Namespace

from paraform.cli.models import device_of
from paraform.cli.options import add_texts
from paraform.cli.output import print_items
from paraform.cli.reading import parts, stream_texts
from paraform.memory import bound_memory
from paraform.progress import track
from paraform.records import Sentence, to_json


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

    def line(sentence: Sentence) -> str:
        return " ".join(f"{word}/{tag}" for word, tag in zip(sentence.tokens, sentence.tags, strict=True))

    return print_annotated(options, "tagger", line, "tagging", size=2048)


def print_annotated(
    options: Namespace,
    who: Literal["tagger", "parser"],
    line: Callable[[Sentence], str],
    title: str,
    *,
    size: int,
    look: Callable[[str], None] = lambda text: None,
) -> int:
    """Print the texts that the options name, with what the option `who` makes of them: as JSON, or by `line`.

    Args:
        title: of the progress bar.
        size: texts at once, unless --batch-size says it.
        look: is shown every text.
    Returns: the exit status.
    """
    bound_memory()
    from paraform.syntax.annotation import Annotator

    texts = parts(seen(stream_texts(options.text, options), look), options.batch_size or size)
    annotate = Annotator(**{who: options[who]}, device=device_of(options)).open()
    shown = track(texts, title, show=True)
    sentences = (sentence for part in shown for sentence in annotate([Sentence(text) for text in part]))
    if options.json:
        print_items("sentences", map(to_json, sentences), {who: options[who]})
    else:
        for sentence in sentences:
            print(line(sentence))
    return 0


def seen(texts: Iterable[str], look: Callable[[str], None]) -> Iterator[str]:
    """The same texts, each shown to `look` as it passes."""
    for text in texts:
        look(text)
        yield text
