"""Two things behind a verb that may change places: "send me the form", "send the form to me"; "turn on the light".

Some have an order of their own ("leave the light on all night"), which a language model is asked about.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from paraform.rewording.clauses import words_of
from paraform.rewording.rewritten import Rewritten
from paraform.syntax.trees import Tree

GIVERS = re.compile(
    r"give[sn]?|giving|gave|sen[dt]|lent|sold|paid|brought"
    r"|(?:send|lend|sell|pay|bring)(?:s|ing)?|(?:show|offer|hand|forward|e?mail|grant|post)(?:s|ed|n|ing)?"
)
TO_PLACES = ("post", "br", "forward", "mail", "email")  # "post it to YouTube": a name need not be somebody's
PERSONS = {"me", "us", "him", "her", "them"}
IDIOMS = {"look", "visit", "lesson", "right", "rights", "call", "ring", "hand", "break", "chance", "try", "hug", "kiss"}
IDIOMS |= {"lift", "ride", "time", "idea", "attention", "way", "credit", "moment", "minute", "shot", "trouble"}
SWITCHING = {"turn", "turned", "turning", "switch", "switched", "switching", "shut", "plug", "plugged"}
PARTICLES = {"on", "off", "down", "up", "in", "out"}
MOST, MOST_BETWEEN = 5, 4  # words of what is given; of what stands between a verb and its particle


def exchanged(tree: Tree) -> list[Rewritten]:
    """The sentence with two things behind a verb exchanged, one sentence for each that may be.

    Args:
        tree: with a word at each leaf.
    """
    words = tree.words()
    return [
        Rewritten([*words[:start], *made, *words[end:]], form, literals, parsed=True, suits="most")
        for start, end, made, form, literals in _found(tree, 0)
    ]


def _found(node: Tree, start: int) -> Iterator[tuple[int, int, list[str], str, frozenset[str]]]:
    """Where the two stand, the words that may stand there, the form, and words that came or went."""
    place = start
    for at, child in enumerate(node.children):
        if node.label == "VP" and child.label.startswith("VB") and at + 1 < len(node.children):
            verb = (child.word or "").lower()
            behind = _two(verb, node.children[at + 1 : at + 3])
            given = _recipient(verb, behind)
            if made := given or _particle(behind):
                end = place + 1 + len(words_of(behind))
                yield place + 1, end, made, f"{child.word} … …", frozenset({"to"} if given else ())
        yield from _found(child, place)
        place += len(child.words())


def _two(verb: str, behind: Sequence[Tree]) -> Sequence[Tree]:
    """The two things, also where the parser has them in one phrase: "send (me) (the form)", "turn (on) (the light)"."""
    first = behind[0]
    if len(first.children) == 2 and first.label == "NP" and first.children[0].words()[0].lower() in PERSONS:
        return first.children
    if len(first.children) == 2 and first.label == "PP":
        particle, nouns = first.children
        sure = particle.label == "PRT" or (verb in SWITCHING and (particle.word or "").lower() in PARTICLES)
        return (Tree("PRT", children=(particle,)), nouns) if sure else ()
    return behind


def _recipient(verb: str, behind: Sequence[Tree]) -> list[str]:
    """What is given, and to whom, in the other order; [] if these are others."""
    if not GIVERS.fullmatch(verb) or len(behind) != 2:
        return []
    (one, other), first, second = behind, words_of(behind[:1]), words_of(behind[1:])
    if IDIOMS & {*first, *second}:
        return []
    if one.label == "NP" and other.label == "NP" and _is_recipient(one, verb) and _is_given(other):
        return [*second, "to", *first]
    if one.label == "NP" and other.label == "PP" and second[0] == "to" and len(other.children) == 2:
        return [*second[1:], *first] if _is_recipient(other.children[1], verb) and _is_given(one) else []
    return []


def _is_recipient(node: Tree, verb: str) -> bool:
    leaves = [*node.leaves()]
    named = leaves[0].label == "NNP" and not verb.startswith(TO_PLACES)
    return len(leaves) == 1 and (named or (leaves[0].word or "") in PERSONS)


def _is_given(node: Tree) -> bool:
    leaves = [*node.leaves()]
    begins = leaves[0].label in ("DT", "PRP$", "CD", "NNS")
    return begins and len(leaves) <= MOST and leaves[-1].label in ("NN", "NNS", "NNP")


def _particle(behind: Sequence[Tree]) -> list[str]:
    """A verb's particle before what stood before it, or the other way round; [] if these are others."""
    if len(behind) != 2:
        return []
    one, other = behind
    nouns, particle = (one, other) if other.label == "PRT" else (other, one)
    leaves = [*nouns.leaves()]
    if particle.label != "PRT" or nouns.label != "NP" or len(leaves) > MOST_BETWEEN or len(particle.words()) != 1:
        return []
    compound = len(leaves) > 1 and leaves[0].label in ("NN", "NNS")
    return [] if compound or leaves[-1].label not in ("NN", "NNS", "NNP") else words_of([other, one])
