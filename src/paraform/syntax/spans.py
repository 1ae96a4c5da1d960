"""Trees as spans over their words, one label each, and back: what a chart can score.

Words and fenceposts are counted from 0; a span reaches from one fencepost to a later one.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from paraform.records import InputError
from paraform.syntax.trees import Tree, without_root

JOIN = "+"  # of the labels of phrases over the very same words, the upper first: S+VP
ROOT = "ROOT"


class Span(NamedTuple):
    """A constituent: its words are those from `start` to `end`, that one left out."""

    start: int
    end: int
    label: str


def constituents(tree: Tree) -> list[Span]:
    """Every phrase of a tree, the upper and the left first; the root and the tags are none."""
    found: list[Span] = []
    at = 0

    def walk(node: Tree) -> None:
        nonlocal at
        if not node.children:
            at += 1
            return
        place, start = len(found), at
        found.append(Span(start, start, node.label))
        for child in node.children:
            walk(child)
        found[place] = Span(start, at, node.label)

    for node in without_root(tree):
        walk(node)
    return found


def joined(spans: Sequence[Span]) -> list[Span]:
    """Constituents, those of the same words made one of a joined label; in the order of `constituents`."""
    labels: dict[tuple[int, int], str] = {}
    for start, end, label in spans:
        above = labels.get((start, end))
        labels[start, end] = label if above is None else f"{above}{JOIN}{label}"
    return [Span(start, end, label) for (start, end), label in labels.items()]


def tree_of(words: Sequence[str], tags: Sequence[str], spans: Sequence[Span]) -> Tree:
    """The tree of words under their tags and of constituents that nest, joined labels taken apart; ROOT stands above.

    Raises: InputError if there is no word, or not one tag a word; ValueError if two spans cross, or one leaves the
        sentence.
    """
    if not words or len(words) != len(tags):
        raise InputError(f"{len(words)} words and {len(tags)} tags; expected one tag a word, at least one")
    outer = sorted(joined(spans), key=lambda span: (span.start, -span.end))
    open_spans: list[tuple[int, str, list[Tree]]] = [(len(words), ROOT, [])]
    at = 0
    for span in [*outer, Span(len(words), len(words), "")]:
        if not 0 <= span.start <= span.end <= len(words):
            raise ValueError(f"{span} of {len(words)} words; expected a span inside the sentence")
        while at < span.start or at == open_spans[-1][0]:
            end, label, children = open_spans[-1]
            if at == end and len(open_spans) > 1:
                open_spans.pop()
                open_spans[-1][2].append(_chain(label, children))
            elif at < span.start:
                children.append(Tree(tags[at], word=words[at]))
                at += 1
            else:
                break
        if span.end > open_spans[-1][0]:
            raise ValueError(f"{span} crosses a span that ends at {open_spans[-1][0]}; expected spans that nest")
        if span.label:
            open_spans.append((span.end, span.label, []))
    return Tree(ROOT, tuple(open_spans[0][2]))


def _chain(label: str, children: list[Tree]) -> Tree:
    *above, last = label.split(JOIN)
    tree = Tree(last, tuple(children))
    for upper in reversed(above):
        tree = Tree(upper, (tree,))
    return tree
