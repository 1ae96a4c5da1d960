"""Phrases that replace each other: `synonyms.txt`.

`a = b`: one for the other, in nearly all sentences; `a > b`: only b for a; `a ~ b`: b for a in most sentences; `a | b`:
in some; `a/VB,VBP > b`: only where the word a has one of these tags.
"""

from __future__ import annotations

import functools
import itertools
import re
from collections.abc import Collection, Mapping, Sequence
from importlib import resources
from typing import NamedTuple

from paraform.rewording.clauses import FINITE
from paraform.rewording.frames import LONGEST
from paraform.rewording.rewritten import SUITS, Rewritten, Suits
from paraform.rewording.slots import Form
from paraform.words import STOP_WORDS

_MARKS: Mapping[str, Suits] = {"=": "nearly all", ">": "nearly all", "~": "most", "|": "some"}
_SURE: tuple[Suits, ...] = ("nearly all",)
_DUTIES = (("need", "to"), ("have", "to"))
_BEFORE_NOUNS, NEAR = {("prior", "to"), ("following",)}, 5  # which no clause follows: its verb would be so near
_THINGS = {"what", "whatever", "which", "who", "whom", "whose", "much", "many", "all", "everything", "anything"}
_THINGS |= {"something", "nothing"}
_NO_THING_BEFORE = {",", ";", ":", "-", "--", "and", "but", "or", "so", "because", "since", "as", "if", "when"}
_NO_THING_BEFORE |= {
    "whether",
    "where",
    "why",
    "how",
    "reason",
    "think",
    "although",
    "though",
    "until",
    "unless",
    "do",
    "come",
}


class Synonym(NamedTuple):
    """What may stand for a phrase.

    Args:
        tags: one of which the word has, where the phrase is one; none: any.
        new: the words for it.
        suits: in how many of the sentences that have the phrase.
    """

    tags: frozenset[str]
    new: Form
    suits: Suits


class _Place(NamedTuple):
    """A phrase of a sentence, from word to word, what may stand for it, and how often that suits."""

    start: int
    end: int
    new: Form
    suits: Suits


def substitute(
    words: Sequence[str], tags: Sequence[str] = (), *, suits: Collection[Suits] = _SURE, most: int = 1
) -> list[Rewritten]:
    """The sentence with other phrases for some of its own, by `synonyms.txt`, the fewest first.

    None of a sentence of more than `LONGEST` words. "a" and "an" before the phrase follow its first sound.

    Args:
        words: in the Penn Treebank's tokenisation, case kept.
        tags: their Penn Treebank tags; without them, phrases that need a tag stay.
        suits: synonyms that do in as many sentences.
        most: phrases of a sentence that are replaced.
    """
    if len(words) > LONGEST:
        return []
    places = sorted(_places(words, tags, suits))
    chosen = [
        some
        for size in range(1, most + 1)
        for some in itertools.combinations(places, size)
        if all(one.end <= other.start for one, other in itertools.pairwise(some)) and _all_differ(some)
    ]
    found = {tuple(one.words): one for one in (_replaced(words, some) for some in chosen)}
    return [*found.values()]


def _places(words: Sequence[str], tags: Sequence[str], suits: Collection[Suits]) -> list[_Place]:
    lowered, found = [word.lower() for word in words], []
    for start in range(len(words)):
        for end in range(start + 1, min(start + _longest(), len(words)) + 1):
            old, tag = tuple(lowered[start:end]), tags[start] if tags and end == start + 1 else ""
            if old[-2:] in _DUTIES and _needs_a_thing(lowered[:start], lowered[end:]):
                continue
            # Not "the door closed when the shop was closed", nor "less" beside "less".
            there = ({*lowered[:start], *lowered[end:]} - STOP_WORDS) | {
                *lowered[start - 1 : start],
                *lowered[end : end + 1],
            }
            clause = not FINITE.isdisjoint(tags[end : end + NEAR])
            may = (
                one
                for one in synonyms().get(old, ())
                if one.suits in suits
                and (not one.tags or tag in one.tags)
                and there.isdisjoint(one.new)
                and not (clause and one.new in _BEFORE_NOUNS)
            )
            found += [_Place(start, end, one.new, one.suits) for one in may]
    return found


def _all_differ(places: Sequence[_Place]) -> bool:
    """Whether no two bring in the same word."""
    new = [word for place in places for word in place.new if word not in STOP_WORDS]
    return len({*new}) == len(new)


def _replaced(words: Sequence[str], places: Sequence[_Place]) -> Rewritten:
    changed, forms, literals = [*words], [], set[str]()
    for start, end, new, _ in reversed(places):
        old = tuple(word.lower() for word in words[start:end])
        if start and words[start - 1].lower() in ("a", "an") and takes_an(old[0]) != takes_an(new[0]):
            changed[start - 1] = words[start - 1][0] + "n" * takes_an(new[0])
        changed[start:end] = new
        forms.append(f"{' '.join(old)} → {' '.join(new)}")
        literals |= {*old} ^ {*new}  # what stays has the case that it had
    suits = max((place.suits for place in places), key=SUITS.index)
    return Rewritten(changed, "; ".join(reversed(forms)), frozenset(literals), suits=suits)


def _needs_a_thing(before: Sequence[str], after: Sequence[str]) -> bool:
    """Whether what is needed, or had, may stand before: "what do I need to apply?", "papers that I need to apply"."""
    if after[:1] == ["do"]:
        return False  # "what I need to do"
    return bool(_THINGS.intersection(before)) or (bool(before) and before[-1] not in _NO_THING_BEFORE)


def takes_an(word: str) -> bool:
    """Whether "an" stands before the word: by its letters, with the usual exceptions."""
    if re.match(r"eu|ewe|one(?!r)|once|uni(?!n|m[^eio])|us[aeu]|ut[ei]|ub[io]|ur[aeiou]|uk\b", word):
        return False
    return re.match(r"[aeiou]|hour|honest|hono|heir|8|11$|18$", word) is not None


@functools.cache
def synonyms() -> dict[Form, tuple[Synonym, ...]]:
    """What may stand for each phrase of `synonyms.txt`."""
    out: dict[Form, tuple[Synonym, ...]] = {}
    for line in (resources.files("paraform.rewording") / "synonyms.txt").read_text(encoding="utf-8").splitlines():
        (old, mark, new), both = re.split("([=>~|])", line), "=" in line
        phrases = [phrase.strip().partition("/") for phrase in (old, new)]
        for (words, _, tags), (others, _, _) in (phrases, phrases[::-1]) if both else (phrases,):
            known = out.setdefault(tuple(words.split()), ())
            synonym = Synonym(frozenset(filter(None, tags.split(","))), tuple(others.split()), _MARKS[mark])
            out[tuple(words.split())] = (*known, synonym)
    return out


@functools.cache
def _longest() -> int:
    return max(map(len, synonyms()))
