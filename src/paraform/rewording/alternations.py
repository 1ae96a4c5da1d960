"""Two things behind a verb that may change places: "send me the form", "send the form to me"; "turn on the light".

Some have an order of their own ("give me a break"), which a language model is asked about.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from paraform.rewording.clauses import words_of
from paraform.rewording.rewritten import Rewritten
from paraform.syntax.trees import Tree

_GIVE = [
    "give",
    "gave",
    "given",
    "send",
    "sent",
    "show",
    "showed",
    "shown",
    "offer",
    "sell",
    "sold",
    "lend",
    "lent",
    "hand",
    "pay",
    "paid",
    "bring",
    "brought",
    "forward",
    "mail",
    "email",
    "teach",
    "taught",
    "grant",
    "post",
]
GIVERS = {f"{verb}{ending}" for verb in _GIVE for ending in ("", "s", "ed", "ing")}
PERSONS = {"me", "us", "him", "her", "them"}
MOST, MOST_BETWEEN = 5, 4  # words of what is given; of what stands between a verb and its particle


def exchanged(tree: Tree) -> list[Rewritten]:
    """The sentence with two things behind a verb exchanged, one sentence for each that may be.

    Args:
        tree: with a word at each leaf.
    """
    words = tree.words()
    return [
        Rewritten([*words[:start], *made, *words[end:]], form, frozenset(), parsed=True, suits="most")
        for start, end, made, form in _found(tree, 0)
    ]


def _found(node: Tree, start: int) -> Iterator[tuple[int, int, list[str], str]]:
    """Where the two stand, and the words that may stand there."""
    place = start
    for at, child in enumerate(node.children):
        behind = node.children[at + 1 : at + 3]
        if node.label == "VP" and child.label.startswith("VB") and len(behind) == 2:
            begin = place + 1
            end = begin + len(words_of(behind))
            made = _recipient((child.word or "").lower(), behind) or _particle(behind)
            if made:
                yield begin, end, made, f"{child.word} … …"
        yield from _found(child, place)
        place += len(child.words())


def _recipient(verb: str, behind: Sequence[Tree]) -> list[str]:
    """What is given, and to whom, in the other order; [] if these are others."""
    one, other = behind
    first, second = words_of([one]), words_of([other])
    if verb not in GIVERS:
        return []
    if one.label == "NP" and other.label == "NP" and _is_recipient(one) and _is_given(other):
        return [*second, "to", *first]
    if one.label == "NP" and other.label == "PP" and second[0] == "to" and len(other.children) == 2:
        return [*second[1:], *first] if _is_recipient(other.children[1]) and _is_given(one) else []
    return []


def _is_recipient(node: Tree) -> bool:
    leaves = [*node.leaves()]
    return len(leaves) == 1 and (leaves[0].label == "NNP" or (leaves[0].word or "") in PERSONS)


def _is_given(node: Tree) -> bool:
    leaves = [*node.leaves()]
    return (
        len(leaves) <= MOST
        and leaves[-1].label in ("NN", "NNS", "NNP")
        and leaves[0].label in ("DT", "PRP$", "CD", "NNS")
    )


def _particle(behind: Sequence[Tree]) -> list[str]:
    """A verb's particle before what stood before it, or the other way round; [] if these are others."""
    one, other = behind
    nouns, particle = (one, other) if other.label == "PRT" else (other, one)
    leaves = [*nouns.leaves()]
    if particle.label != "PRT" or nouns.label != "NP" or len(leaves) > MOST_BETWEEN or len(particle.words()) != 1:
        return []
    if leaves[-1].label not in ("NN", "NNS", "NNP") or (leaves[0].label in ("NN", "NNS") and len(leaves) > 1):
        return []
    return words_of([other, one])
