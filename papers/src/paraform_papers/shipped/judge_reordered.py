"""Sentences in another order that say the same, by the tree: nobody need have written them so.

The default call's rules move what reads well elsewhere; a judge has to know more orders than these.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from paraform.rewording.clauses import main_clause, words_of
from paraform.rewording.drafts import written_drafts
from paraform.rewording.rewritten import Rewritten
from paraform.rewording.tagged import Tagged
from paraform.syntax.trees import Parser, Tree

MOVES = ("PP", "SBAR", "ADVP", "NP-TMP")
CLAUSES = ("S", "SBAR", "CC")
WHEN = ("when", "because", "while", "after", "before", "although", "though", "since", "until")
PARTICLES = ("back", "away", "up", "down", "out", "together", "off", "there", "well", "to", "that", "whether", "than")
LINKS = ("however", "thus", "therefore", "then", "also", "so", "instead", "moreover", "furthermore", "as", "if")
EQUALS = ("NP", "NN", "NNS", "NNP", "NNPS", "JJ", "ADJP", "PP", "ADVP", "NX", "QP", "CD", "VBN", "VBG", "RB")
WORDS = ("NN", "NNS", "NNP", "NX")  # which share what stands before and behind both
LONGEST = 14  # words that are moved
LEAST_LEFT = 3
MOST_OWNER = 4  # words of a name and "'s" or "of"


class Part(NamedTuple):
    """What stands for a run of words.

    Args:
        kind: "front", "end", "and", "list", "adjuncts", "apposition" or "genitive".
        start: the run's first word.
        stop: the word behind it.
    """

    kind: str
    start: int
    stop: int
    words: list[str]


def reordered(texts: Sequence[str], parse: Parser, drawn: random.Random, *, most: int) -> list[list[str]]:
    """Each text in other orders, one of each kind at most, those that the tree allows."""
    read = [Tagged.read(text) for text in texts]
    out = []
    for text, one, tree in zip(texts, read, parse([one.words for one in read]), strict=True):
        found = list(orders(tree)) if tree is not None else []
        drawn.shuffle(found)
        rows: dict[str, str] = {}
        for part in found:
            words = [*one.words[: part.start], *part.words, *one.words[part.stop :]]
            source = one._replace(tags=tree.tags() if tree is not None else ())
            drafts = written_drafts([Rewritten(words, part.kind, frozenset())], source, {})
            if part.kind not in rows and drafts and drafts[0].text.lower() != text.lower():
                rows[part.kind] = drafts[0].text
        out.append(list(rows.values())[:most])
    return out


def orders(tree: Tree) -> Iterator[Part]:
    """Every single change of the sentence's order that leaves what it says."""
    label, parts, _ = main_clause(tree)
    if label == "S" and not any(part.label in CLAUSES for part in parts[1:]):
        yield from _moved(parts)
    yield from _inner(tree, 0)


def _moved(parts: Sequence[Tree]) -> Iterator[Part]:
    """What stands before the subject at the end, and what stands behind the verb before the subject."""
    words, first = words_of(parts), parts[0].words()
    rest = words[len(first) :]
    rest = rest[1:] if rest[:1] == [","] else rest
    subject = any(part.label == "NP" for part in parts[1:])
    if parts[0].label in MOVES and subject and len(first) > 1 and first[0].lower() not in LINKS:
        yield Part("end", 0, len(words), [*rest, *first])
    node = parts[-1]
    while node.children and node.children[-1].label == "VP":
        node = node.children[-1]
    if node.label != "VP" or len(node.children) < 2 or parts[0].label in CLAUSES:
        return
    last = node.children[-1].words()
    left = words[: len(words) - len(last)]
    opens = last[0].lower()
    may = node.children[-1].label in MOVES and opens not in PARTICLES
    if (
        may
        and (node.children[-1].label != "SBAR" or opens in WHEN)
        and len(last) <= LONGEST
        and len(left) >= LEAST_LEFT
    ):
        yield Part("front", 0, len(words), [*last, ",", *(left[:-1] if left[-1] == "," else left)])


def _inner(node: Tree, start: int) -> Iterator[Part]:
    """What may change places within a phrase, and within its parts."""
    labels, said = [child.label for child in node.children], [child.words() for child in node.children]
    places = [start]
    for words in said:
        places.append(places[-1] + len(words))
    yield from _equals(labels, said, places)
    if node.label == "VP":
        yield from _adjuncts(labels, said, places)
    if node.label == "NP":
        yield from _apposition(labels, said, places)
        yield from _genitive(node, labels, said, places)
    for child, place in zip(node.children, places, strict=False):
        yield from _inner(child, place)


def _equals(labels: Sequence[str], said: Sequence[Sequence[str]], places: Sequence[int]) -> Iterator[Part]:
    """ "A and B", "A, B and C"."""
    at = labels.index("CC") if labels.count("CC") == 1 else 0
    if not 0 < at < len(labels) - 1 or said[at][0].lower() not in ("and", "or") or labels[at + 1] not in EQUALS:
        return
    kind, commas = labels[at + 1], at > 1 and labels[at - 1] == ","
    one = at - 2 if commas else at - 1
    if labels[one] != kind or said[one] == said[at + 1]:
        return
    shared = kind in WORDS and (labels[:one] not in ([], ["DT"], ["PRP$"]) or at + 2 < len(labels))
    if one > 1 and labels[one - 1] == "," and labels[one - 2] == kind:
        between = [word for words in said[one - 1 : at + 1] for word in words]
        yield Part("list", places[one - 2], places[at + 2], [*said[at + 1], *between, *said[one - 2]])
    elif not shared:
        between = [word for words in said[one + 1 : at + 1] for word in words]
        yield Part("and", places[one], places[at + 2], [*said[at + 1], *between, *said[one]])


def _adjuncts(labels: Sequence[str], said: Sequence[Sequence[str]], places: Sequence[int]) -> Iterator[Part]:
    """ "in Paris on Monday"."""
    for at in range(1, len(labels) - 1):
        both, opens = {*labels[at : at + 2]}, {said[at][0].lower(), said[at + 1][0].lower()}
        if both <= {"PP", "NP-TMP"} and not opens & {"of", "by", "than"}:
            yield Part("adjuncts", places[at], places[at + 2], [*said[at + 1], *said[at]])


def _apposition(labels: Sequence[str], said: Sequence[Sequence[str]], places: Sequence[int]) -> Iterator[Part]:
    """ "Tom, the mayor,"; not "Paris, France," nor "May 2, 1783,"."""
    if list(labels) == ["NP", ",", "NP", ","] and len(said[2]) > 1:
        one, other = said[0], said[2]
        if "," not in (*one, *other) and not one[0][0].isdigit() and not other[0][0].isdigit():
            yield Part("apposition", places[0], places[4], [*other, ",", *one, ","])


def _genitive(
    node: Tree, labels: Sequence[str], said: Sequence[Sequence[str]], places: Sequence[int]
) -> Iterator[Part]:
    """ "the mayor of Rome", "Rome's mayor"."""
    if len(labels) < 2 or labels[0] != "NP":
        return
    owner, tags = said[0], node.children[0].tags()
    if owner[-1] == "'s" and len(owner) <= MOST_OWNER and tags[0].startswith("NNP"):
        if all(label.startswith(("NN", "JJ")) for label in labels[1:]):
            owned = [word for words in said[1:] for word in words]
            yield Part("genitive", places[0], places[-1], ["the", *owned, "of", *owner[:-1]])
    elif list(labels) == ["NP", "PP"] and said[1][0] == "of" and len(owner) == 2 and owner[0].lower() == "the":
        names = all(tag.startswith("NNP") for tag in node.children[1].tags()[1:])
        if names and 1 < len(said[1]) <= MOST_OWNER:
            yield Part("genitive", places[0], places[2], [*said[1][1:], "'s", *owner[1:]])
