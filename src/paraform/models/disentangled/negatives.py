"""Sentences to tell a vector from: of the same form and other words, or of the same words in other roles."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from paraform.records import Pair
from paraform.syntax.mining import mined_exemplars
from paraform.syntax.rules import MiningConfig
from paraform.syntax.running import DEFAULT
from paraform.syntax.trees import Tree
from paraform.words import detokenize, tokenize

BE = frozenset(("is", "are", "was", "were", "be", "am", "been", "being", "'s", "'re", "'m"))
BETWEEN = frozenset(("CC", "CONJP"))
NAMES = frozenset(("NNP", "NNPS", "CD"))


def same_form(pairs: Sequence[Pair], *, max_tokens: int, seed: int = 0) -> list[str | None]:
    """For each pair a sentence of another cluster with the target's tags, or nearly so, and mostly other words.

    It is the target's exemplar of CRL-EGPG, in another part: what shares form and not meaning. None: there is none.
    """
    mined = mined_exemplars(pairs, MiningConfig(keep=1, min_new_words=2, seed=seed), max_tokens, tagger=DEFAULT)
    return [None if first < 0 else mined.pool[first].text for first in mined.exemplars[:, 0].tolist()]


def exchanged(tree: Tree, *, seed: int = 0) -> Tree | None:
    """The tree with two of its noun phrases, names or numbers in each other's place; None if it has no two.

    A phrase is exchanged for a phrase and a name for a name, neither inside the other, of other words; which two, the
    seed and the words decide. "the cat chased a dog" → "a dog chased the cat". Not exchanged, as the sentence would say
    the same or nothing: members of one coordination, two phrases with only a form of "be" between them, and what
    begins with a question word.
    """
    words = [word.lower() for word in tree.words()]
    places = [place for place in _places(tree, (), 0) if not place.node.tags()[0].startswith("W")]
    choices = [
        (one, other)
        for number, one in enumerate(places)
        for other in places[number + 1 :]
        if one.kind == other.kind
        and other.start >= one.end
        and one.words != other.words
        and not (one.path[:-1] == other.path[:-1] and _coordinates(tree, one.path[:-1]))
        and not (other.start > one.end and BE.issuperset(words[one.end : other.start]))
    ]
    if not choices:
        return None
    one, other = random.Random(f"{seed} {' '.join(tree.words())}").choice(choices)
    return _put(_put(tree, one.path, other.node), other.path, one.node)


def as_text(tree: Tree, like: str) -> str:
    """The tree's words, written as another text of them is: a space around each, or as a person would."""
    return " ".join(tree.words()) if like == " ".join(tokenize(like)) else detokenize(tree.words())


def _coordinates(tree: Tree, path: tuple[int, ...]) -> bool:
    """Whether the node there is "A, B and C", its members of one label."""
    for number in path:
        tree = tree.children[number]
    labels = [child.label for child in tree.children]
    members = {label for label in labels if label not in BETWEEN and label[0].isalpha()}
    return len(members) == 1 and not BETWEEN.isdisjoint(labels)


class _Place(NamedTuple):
    path: tuple[int, ...]
    node: Tree
    kind: str
    start: int
    end: int

    @property
    def words(self) -> tuple[str, ...]:
        return tuple(word.lower() for word in self.node.words())


def _places(node: Tree, path: tuple[int, ...], start: int) -> Iterator[_Place]:
    """Noun phrases, names and numbers below a node, with the words that they reach over."""
    end = start + len(node.words())
    kind = "phrase" if node.label == "NP" and node.children else node.label if node.label in NAMES else ""
    if kind and path:
        yield _Place(path, node, kind, start, end)
    for number, child in enumerate(node.children):
        yield from _places(child, (*path, number), start)
        start += len(child.words())


def _put(tree: Tree, path: tuple[int, ...], node: Tree) -> Tree:
    if not path:
        return node
    first, *rest = path
    children = list(tree.children)
    children[first] = _put(children[first], tuple(rest), node)
    return Tree(tree.label, tuple(children), tree.word)
