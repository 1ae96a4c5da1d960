"""Constituency trees: bracketed text in and out, and what the field computes from their shape.

>>> tree = Tree.parse("(ROOT (S (NP (DT The) (NN cat)) (VP (VBD sat))))")
>>> linearized(tree)
'(ROOT (S (NP (DT) (NN)) (VP (VBD))))'
>>> str(template(tree, 3))
'(ROOT (S (NP) (VP)))'
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from paraform.records import InputError, Sentence, require_text
from paraform.words import escape, unescape

ROOTS = ("ROOT", "TOP", "S1", "")
"""What stands above a sentence in GUM, OntoNotes, Charniak's parser and the Penn Treebank."""

TRACE = "-NONE-"
MAX_DEPTH = 200  # brackets in brackets; the treebanks we train on have 34 at most

_ATOM = re.compile(r"[()]|[^\s()]+")
_FUNCTION = re.compile(r"^([^-=|]+)[-=|].*")  # NP-SBJ-1, NP=2, ADVP|PRT; a label that begins with one is whole: -LRB-


@dataclass(frozen=True, slots=True)
class Tree:
    """A phrase over its children, a word under its tag, or, where words are left out, a bare label.

    Args:
        label: constituent or tag, with function tags or without; "" of the Penn Treebank's outer bracket.
        children: the phrase's parts; () of a leaf.
        word: the leaf's word, as it is in the text (`(`, not `-LRB-`).
    """

    label: str
    children: tuple[Tree, ...] = ()
    word: str | None = None

    @classmethod
    def parse(cls, text: str) -> Tree:
        """The one tree that a text holds; brackets, spaces and line breaks as in any treebank.

        An empty bracket, which QuestionBank has for a trace, is left out.
        Raises: InputError with the character's number, counted from 1, where the text is no tree.
        """
        require_text(text, "the tree")
        open_labels: list[str | None] = []  # None: the label is still to come
        nodes: list[list[Tree]] = [[]]
        word: str | None = None
        for atom in _ATOM.finditer(text):
            found, place = atom[0], atom.start() + 1
            if not open_labels and (found != "(" or nodes[0]):
                raise InputError(f"character {place}: {found[:40]!r} outside the tree; expected one (LABEL …)")
            if found == "(":
                if word is not None:
                    raise InputError(f"character {place}: a bracket behind the word {word[:40]!r}; expected ')'")
                if open_labels and open_labels[-1] is None:
                    open_labels[-1] = ""
                if len(open_labels) == MAX_DEPTH:
                    raise InputError(f"character {place}: more than {MAX_DEPTH} brackets in one another")
                open_labels.append(None)
                nodes.append([])
            elif found == ")":
                label, children = open_labels.pop(), nodes.pop()
                if word is not None or children or label:
                    nodes[-1].append(cls(label or "", tuple(children), word))
                word = None
            elif open_labels[-1] is None:
                open_labels[-1] = found
            elif word is None and not nodes[-1]:
                word = unescape(found)
            else:
                raise InputError(f"character {place}: {found[:40]!r} behind a word or a phrase; expected '(' or ')'")
        if open_labels:
            raise InputError(f"character {len(text)}: the end, with {len(open_labels)} brackets open; expected ')'")
        if not nodes[0]:
            raise InputError("no tree; expected brackets such as (S (NP (PRP I)) (VP (VBP see)))")
        return nodes[0][0]

    def __str__(self) -> str:
        """In one line, as `parse` reads it. Raises: InputError if a label or a word has white space, or is empty."""
        if self.word is not None:
            return f"({_checked(self.label)} {_checked(escape(self.word))})"
        inside = " ".join(map(str, self.children))
        label = _checked(self.label) if self.label or not self.children else ""
        return f"({label} {inside})" if inside else f"({label})"

    def leaves(self) -> Iterator[Tree]:
        """The nodes without children, from left to right."""
        if not self.children:
            yield self
        for child in self.children:
            yield from child.leaves()

    def words(self) -> tuple[str, ...]:
        """Of the leaves that have one."""
        return tuple(leaf.word for leaf in self.leaves() if leaf.word is not None)

    def tags(self) -> tuple[str, ...]:
        """The labels of the leaves."""
        return tuple(leaf.label for leaf in self.leaves())


Parser: TypeAlias = Callable[[Sequence[Sequence[str]]], list[Tree | None]]
"""Words of each sentence in, its tree out, tags at its leaves; None for a sentence without words."""


def indented(tree: Tree, level: int = 0) -> str:
    """A line for each phrase that holds phrases, two spaces for each level above it."""
    if all(not child.children for child in tree.children):
        return "  " * level + str(tree)
    inside = "\n".join(indented(child, level + 1) for child in tree.children)
    return f"{'  ' * level}({tree.label}\n{inside})"


def read_tree(sentence: Sentence) -> Tree:
    """A sentence's own; a bracket whose tag QuestionBank forgot, `( -LRB-)`, is a word under its own name.

    Raises: InputError, naming the file and line it came from, if it has none or has no tree.
    """
    try:
        return _with_brackets(Tree.parse(sentence.tree or ""))
    except InputError as error:
        raise (sentence.origin.error(str(error)) if sentence.origin else error) from error


def _with_brackets(tree: Tree) -> Tree:
    if tree.children:
        return Tree(tree.label, tuple(map(_with_brackets, tree.children)))
    bare = tree.word is None and unescape(tree.label) != tree.label
    return Tree(tree.label, word=unescape(tree.label)) if bare else tree


def stripped(tree: Tree) -> Tree | None:
    """The tree without traces, phrases that only hold traces, function tags and co-indices; None if nothing is left.

    Of an annotator's doubt (`ADVP|PRT`) the first label stays.
    """
    if tree.label == TRACE:
        return None
    children = tuple(child for child in map(stripped, tree.children) if child)
    if tree.children and not children:
        return None
    return Tree(_FUNCTION.sub(r"\1", tree.label), children, tree.word)


def without_root(tree: Tree) -> tuple[Tree, ...]:
    """What stands below the root, whatever a treebank calls it; the tree itself if it has none."""
    below: tuple[Tree, ...] = (tree,)
    while len(below) == 1 and below[0].label in ROOTS and below[0].children:
        below = below[0].children
    return below


def below_one_root(tree: Tree) -> Tree:
    """The tree under one ROOT, whatever its own is called."""
    return Tree(ROOTS[0], without_root(tree))


def linearized(tree: Tree) -> str:
    """The tree without its words, as SCPN, AESOP and ParaBART read it: `(S (NP (DT) (NN)) (VP (VBD)))`."""
    return str(delexicalized(tree))


def delexicalized(tree: Tree) -> Tree:
    """The same tree, its leaves bare tags."""
    return Tree(tree.label, tuple(map(delexicalized, tree.children)))


def template(tree: Tree, height: int) -> Tree:
    """The uppermost `height` levels without words (SCPN: ROOT and the next two; AESOP: any height).

    Args:
        height: levels kept, the top label's is the first; ≥ 1.
    Raises: InputError for another height.
    """
    if height < 1:
        raise InputError(f"height is {height}; expected at least 1, which is the top label alone")
    return Tree(tree.label, tuple(template(child, height - 1) for child in tree.children) if height > 1 else ())


def top_constituents(tree: Tree) -> tuple[str, ...]:
    """The labels right below the sentence's own node, the root left out (SentEval's TopConst, QQP-Easy and -Hard)."""
    below = without_root(tree)
    return tuple(node.label for node in (below[0].children if len(below) == 1 else below))


def bag_of_constituents(tree: Tree, *, tags: bool = False) -> Counter[str]:
    """How often each constituent stands in the tree; Penn Treebank tags only if `tags`. The root is left out."""
    bag: Counter[str] = Counter()
    waiting = list(without_root(tree))
    while waiting:
        node = waiting.pop()
        if node.children or tags:
            bag[node.label] += 1
        waiting += node.children
    return bag


def depth(tree: Tree) -> int:
    """Nodes on the longest way from the top to a tag, both counted; a leaf has 1."""
    return 1 + max(map(depth, tree.children), default=0)


def tree_edit_distance(one: Tree, other: Tree) -> int:
    """Fewest labels to insert, delete or rename to make one tree the other, words ignored (Zhang & Shasha 1989).

    Raises: InputError if `apted`, of the extra `eval`, is not installed.
    """
    try:
        from apted import APTED, Config
    except ImportError as error:
        raise InputError("tree edit distance needs apted; pip install 'paraform[eval]'") from error

    class Labels(Config):  # type: ignore[misc]  # the library's own way to say what a label and a child is
        def rename(self, node1: Tree, node2: Tree) -> int:
            return int(node1.label != node2.label)

        def children(self, node: Tree) -> Sequence[Tree]:
            return node.children

    return int(APTED(one, other, Labels()).compute_edit_distance())


def _checked(atom: str) -> str:
    if not _ATOM.fullmatch(atom) or atom in "()":
        raise InputError(f"{atom[:40]!r} cannot stand in a tree; expected characters without white space or brackets")
    return atom
