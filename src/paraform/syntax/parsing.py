"""Trees of words: our own head on the offline encoder, stanza, or a CoreNLP server, behind one function."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from paraform.records import InputError, require_text, require_words
from paraform.syntax.chart import best_trees, span_ends
from paraform.syntax.head import SyntaxHead
from paraform.syntax.other_parsers import corenlp_parser, stanza_parser
from paraform.syntax.running import DEFAULT, Runner, head_digest, head_folder, load_head
from paraform.syntax.spans import ROOT, Span, tree_of
from paraform.syntax.trees import Parser, Tree
from paraform.syntax.windows import unique_windows
from paraform.threads import loads_alone
from paraform.words import tokenize

WINDOW = 120  # words parsed at once, since the chart grows with their square; few sentences have as many

OTHERS = "'stanza[:PACKAGE]', 'corenlp[:URL]'"


@loads_alone
def load_parser(name: str = DEFAULT, *, device: str | None = None) -> Parser:
    """A parser by name.

    Args:
        name: "syntax" (the default head), "syntax-all" (the better one), a folder with a trained head, "stanza" with a
            package's name behind a colon or not, or "corenlp" with a server's address ("corenlp:http://localhost:9000").
    Raises: InputError if it is not installed, not found, or does not answer; the message says how to get it.
    """
    require_text(name, "the parser's name")
    kind, _, which = name.partition(":")
    if kind in ("stanza", "corenlp"):
        if kind == "corenlp":
            parse = corenlp_parser(which) if which else corenlp_parser()
        else:
            parse = stanza_parser(which, device=device) if which else stanza_parser(device=device)
    else:
        parse = head_parser(load_head(head_folder(name, "parser", OTHERS)), device=device)
    return lambda sentences: parse(require_words(sentences))


def parser_digest(name: str = DEFAULT) -> str:
    """What tells the trees of two parsers apart: the head's weights, or the name of another's.

    Raises: InputError if there is no parser of that name.
    """
    require_text(name, "the parser's name")
    if name.partition(":")[0] in ("stanza", "corenlp"):
        return re.sub(r"//[^/@]*@", "//", name)  # a server's password is nobody's business
    return head_digest(head_folder(name, "parser", OTHERS))


def parsed(texts: Sequence[str], parser: Callable[[], Parser], what: str) -> list[Tree]:
    """The tree of each text; the same text is parsed once.

    Args:
        parser: loads it; not called where there is nothing to parse.
        what: a text's name in messages, such as "exemplar".
    Raises: InputError for an empty text.
    """
    different = list(dict.fromkeys(texts))
    words = [tokenize(text) for text in different]
    lacking = {text for text, row in zip(different, words, strict=True) if not row}
    for number, text in enumerate(texts, start=1):
        if text in lacking:
            raise InputError(f"{what} {number} is empty; expected a sentence")
    found = dict(zip(different, parser()(words), strict=True)) if different else {}
    return [tree for text in texts if (tree := found[text]) is not None]


def head_parser(head: SyntaxHead, *, device: str | None = None) -> Parser:
    """Our own parser. Of more than `WINDOW` words it parses parts, whose trees stand side by side below ROOT."""
    run = Runner(head, device=device)

    def parse(sentences: Sequence[Sequence[str]]) -> list[Tree | None]:
        parts, unique = unique_windows(sentences, WINDOW)
        trees: dict[tuple[str, ...], Tree] = {}
        for found in run(unique, spans=True):
            length = len(unique[found.rows[0]])
            assert found.scores_BP is not None and found.labels_BP is not None  # asked for above
            starts, ends = (places.tolist() for places in span_ends(length))
            chosen = best_trees(found.scores_BP, length).tolist()
            for place, row in enumerate(found.rows):
                labels = found.labels_BP[place]
                spans = [Span(starts[at], ends[at], head.labels[labels[at]]) for at in chosen[place] if labels[at]]
                tags = [head.tags[number] for number in found.tags[place]]
                trees[unique[row]] = tree_of(unique[row], tags, spans)
        return [_side_by_side([trees[window] for window in row]) for row in parts]

    return parse


def _side_by_side(trees: Sequence[Tree]) -> Tree | None:
    if len(trees) < 2:
        return trees[0] if trees else None
    return Tree(ROOT, tuple(child for tree in trees for child in tree.children))
