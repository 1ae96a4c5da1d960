"""Texts to tokenised, tagged and parsed sentences, computed once and kept on disk by content."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from paraform.encoders.torch_settings import asked_products
from paraform.progress import track
from paraform.records import Sentence
from paraform.syntax.running import DEFAULT
from paraform.syntax.tagging import load_tagger, tagger_digest
from paraform.weights import cached_file, read_kept, write_kept
from paraform.words import tokenize

AT_ONCE = 2048  # texts whose annotations are one file of the cache

Words = list[tuple[str, ...]]
Annotate = Callable[[Sequence[Sentence]], list[Sentence]]
"""Sentences in, the same with words, tags and, if asked for, trees out."""


@dataclass(frozen=True)
class Annotator:
    """How sentences are annotated.

    Args:
        tagger: a name that `load_tagger` knows; not used if there is a parser.
        parser: a name that `load_parser` knows; None: no trees. The tags are then those of the trees.
        max_tokens: words kept of each text; None: all.
        lower: words are lower-cased before they are tagged, as generated text is.
        device: a device by torch's name; None: the GPU if there is one.
    """

    tagger: str = DEFAULT
    parser: str | None = None
    max_tokens: int | None = None
    lower: bool = False
    device: str | None = None

    def digest(self) -> str:
        """What tells the annotations of two annotators apart; tags differ a little with the precision of products.

        Raises: InputError if there is no such tagger.
        """
        if self.parser is None:
            who = tagger_digest(self.tagger)
        else:
            from paraform.syntax.parsing import parser_digest  # it needs a compiler, which tags do not

            who = f"trees {parser_digest(self.parser)}"
        # "literals": words were cut otherwise before, and what is kept of that must not be taken.
        return repr((who, "literals", self.max_tokens, self.lower, *filter(None, [asked_products()])))

    def open(self) -> Annotate:
        """Load what is needed. Raises: InputError if it is not there."""
        if self.parser is None:
            tag = load_tagger(self.tagger, device=self.device)

            def mark(words: Words) -> list[tuple[tuple[str, ...], str | None]]:
                return [(tuple(tags), None) for tags in tag(words)]

        else:
            from paraform.syntax.parsing import load_parser

            parse = load_parser(self.parser, device=self.device)

            def mark(words: Words) -> list[tuple[tuple[str, ...], str | None]]:
                return [(tree.tags(), str(tree)) if tree else ((), None) for tree in parse(words)]

        def annotate(sentences: Sequence[Sentence]) -> list[Sentence]:
            words = self._words(sentences)
            rows = zip(sentences, words, mark(words), strict=True)
            # A tree that it had is of other words or tags.
            return [replace(sentence, tokens=tokens, tags=tags, tree=tree) for sentence, tokens, (tags, tree) in rows]

        return annotate

    def _words(self, sentences: Sequence[Sentence]) -> Words:
        words = [(sentence.tokens or tuple(tokenize(sentence.text)))[: self.max_tokens] for sentence in sentences]
        return [tuple(word.lower() for word in row) for row in words] if self.lower else words


def annotate(
    texts: Sequence[str],
    *,
    tagger: str = DEFAULT,
    parser: str | None = None,
    max_tokens: int | None = None,
    lower: bool = False,
    cache: Path | None = None,
    progress: bool = False,
) -> list[Sentence]:
    """Each text with its words and Penn Treebank tags, and its tree if a parser is named.

    Args:
        tagger, parser, max_tokens, lower: the fields of an `Annotator`.
        cache: the folder of earlier results; None: `weights.cache_folder()`.
        progress: say on stderr how far it is.
    Returns: one sentence a text, in order; equal texts share one.
    """
    how = Annotator(tagger, parser, max_tokens, lower)
    digest = how.digest()
    unique = [Sentence(text) for text in dict.fromkeys(texts)]
    found: dict[str, Sentence] = {}
    run: Annotate | None = None
    starts = range(0, len(unique), AT_ONCE)
    for start in track(starts, "annotating", show=progress):
        part = unique[start : start + AT_ONCE]
        path = cached_file("annotations", (digest, *(sentence.text for sentence in part)), "json", cache)
        if (content := read_kept(path)) is not None:
            kept = json.loads(content)
        else:
            run = run or how.open()
            kept = [(sentence.tokens, sentence.tags, sentence.tree) for sentence in run(part)]
            write_kept(path, json.dumps(kept).encode())
        for sentence, (tokens, tags, tree) in zip(part, kept, strict=True):
            found[sentence.text] = Sentence(sentence.text, tuple(tokens), tuple(tags), tree)
    return [found[text] for text in texts]
