"""What "and" or "or" joins, the other way round: "friendly and attentive", "attentive and friendly".

Some pairs have an order of their own ("hot and spicy"), which a language model is asked about.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from paraform.rewording.adverbials import POINTING
from paraform.rewording.rewritten import Rewritten
from paraform.syntax.trees import Tree

WORDS = ("JJ", "NN", "NNS")
PHRASES = ("NP", "ADJP")
MOST = 3  # words on one side
FIXED = {"pros", "cons", "terms", "ladies", "ups", "odds", "nuts", "bits", "mom"}  # which have an order of their own
FIXED |= {"other", "others", "same", "such", "former", "latter"}
_WITHIN = ("PP", "S", "SBAR", "VP", "CC", "CD", "PRP", "PRP$", "$", "NNP", "NNPS", "RB", "RBR", "JJR")


def swapped(tree: Tree) -> list[Rewritten]:
    """The sentence with the two sides of one "and" or "or" exchanged, one sentence for each that may be.

    Only of nouns and adjectives, with nothing beside or within that may belong to one side or to both.

    Args:
        tree: with a word at each leaf.
    """
    words = [leaf.word or "" for leaf in tree.leaves()]
    out = []
    for start, one, joint, other in _joined(tree, 0):
        first, between, second = map(_words, (one, joint, other))
        if start and words[start - 1].lower() in ("a", "an"):
            continue  # which follows the next word's sound
        end = start + len(first) + len(between) + len(second)
        changed = [*words[:start], *second, *between, *first, *words[end:]]
        out.append(Rewritten(changed, f"… {between[0]} …", frozenset(), parsed=True, suits="most"))
    return out


def _joined(node: Tree, start: int) -> Iterator[tuple[int, Tree, Tree, Tree]]:
    """Where two things are joined, which may change places: the first word's number, and all three."""
    labels = [child.label for child in node.children]
    place = start
    for at, child in enumerate(node.children):
        if labels.count("CC") == 1 and "," not in labels and labels[at + 1 : at + 2] == ["CC"] and at + 2 < len(labels):
            joint, other = node.children[at + 1], node.children[at + 2]
            before, after = labels[:at], labels[at + 3 :]
            free = before in ([], ["DT"], ["PRP$"]) and (not after or child.label == "JJ")
            if (joint.word or "").lower() in ("and", "or") and free and _alike(child, other):
                yield place, child, joint, other
        yield from _joined(child, place)
        place += len(_words(child))


def _alike(one: Tree, other: Tree) -> bool:
    sides = (_words(one), _words(other))
    fit = one.label in (*WORDS, *PHRASES) and all(len(side) <= MOST for side in sides) and sides[0] != sides[1]
    return one.label == other.label and fit and not any(_inside(side) for side in (one, other))


def _inside(node: Tree) -> bool:
    """Whether there is what may belong to both sides, or stand for the other one, or a name's own order."""
    word = (node.word or "").lower()
    return node.label in _WITHIN or word in POINTING | FIXED or any(map(_inside, node.children))


def _words(node: Tree) -> Sequence[str]:
    return [leaf.word or "" for leaf in node.leaves()]
