"""Two texts that are near and not the same: they differ in a number, a name, a denial, or in who does what.

By words alone, so that millions of pairs can be looked at; what it does not see stays together.
"""

from __future__ import annotations

import functools
import re
from collections import Counter
from collections.abc import Collection
from importlib import resources
from typing import Literal, NamedTuple, TypeAlias

from paraform.rewording.apostrophes import with_apostrophes
from paraform.rewording.content import NEGATIONS
from paraform.spans import cut
from paraform.words import STOP_WORDS, opens_sentence

Kind: TypeAlias = Literal["numbers", "names", "negation", "roles"]
KINDS: tuple[Kind, ...] = ("numbers", "names", "negation", "roles")

_COUNTS = ["zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve"]
_NUMBERS = {word: str(number) for number, word in enumerate(_COUNTS)}
_NUMBERS |= {"twenty": "20", "thirty": "30", "fifty": "50", "hundred": "100", "thousand": "1000", "million": "1000000"}
_NUMBERS |= {"first": "1", "second": "2", "third": "3", "once": "1", "twice": "2", "half": "½", "double": "2"}
_OPPOSITES = (
    "on off", "in out", "up down", "before after", "enable disable", "enabled disabled", "activate deactivate",
    "activated deactivated", "open close", "opened closed", "start stop", "started stopped", "lock unlock",
    "add remove", "send receive", "sent received", "buy sell",
    "increase decrease", "raise lower", "allow deny", "allow block",
    "accept reject", "accepted rejected", "connect disconnect", "install uninstall", "subscribe unsubscribe",
    "with without", "more less", "most least", "above below", "over under", "from to", "always never", "all none",
    "possible impossible", "able unable", "best worst", "good bad", "high low", "higher lower", "old new", "win lose",
    "deposit withdraw", "upgrade downgrade", "show hide", "public private", "left right", "earlier later", "first last",
)  # fmt: skip
_OPPOSITE = {frozenset(pair.split()) for pair in _OPPOSITES}


class _Facts(NamedTuple):
    numbers: Counter[str]
    names: tuple[str, ...]
    denials: int
    words: Counter[str]
    content: tuple[str, ...]


def differs(one: str, other: str, kinds: Collection[Kind] = KINDS) -> Kind | None:
    """The first of these kinds in which two texts differ; None if in none.

    Args:
        kinds: numbers: another one, in digits or words. names: one that the other has not, whatever its case, or the
            same ones in another order. negation: a word that denies more, or a word's opposite. roles: two nouns, verbs
            or adjectives in each other's place.
    """
    first, second = _facts(one), _facts(other)
    found: dict[Kind, bool] = {
        "numbers": first.numbers != second.numbers,
        "names": _other_names(first, second),
        "negation": first.denials != second.denials or _opposed(first.words, second.words),
        "roles": _exchanged(first.content, second.content),
    }
    return next((kind for kind in KINDS if kind in kinds and found[kind]), None)


@functools.lru_cache(maxsize=2**15)
def _facts(text: str) -> _Facts:
    words = with_apostrophes(cut(text)).words
    lowered = [word.lower().replace(".", "") or word for word in words]
    names, opens = [], True
    for word, lower in zip(words, lowered, strict=True):
        if word[:1].isupper() and word != "I" and (not opens or lower in _names()):
            names.append(lower)
        opens = opens_sentence(word, opens)
    if len(names) > len(words) / 2:
        names = []  # a title, or shouting, where capitals say nothing
    numbers = Counter(number for word in map(str.lower, words) if (number := _number(word)))
    denials = sum(word in NEGATIONS for word in lowered)
    content = tuple(word for word in lowered if word not in STOP_WORDS and re.search(r"\w", word))
    return _Facts(numbers, tuple(names), denials, Counter(lowered), content)


def _number(word: str) -> str:
    """Its digits, 1,000.00 as 1000 and 3rd as 3; "" for what is none."""
    if word in _NUMBERS:
        return _NUMBERS[word]
    return re.sub(r"(?<=\d)(st|nd|rd|th)$|,(?=\d{3})|\.0+$", "", word) if re.search(r"\d", word) else ""


def _other_names(one: _Facts, other: _Facts) -> bool:
    if {*one.names} - {*other.words} or {*other.names} - {*one.words}:
        return True
    shared = {*one.names} & {*other.names}
    return [name for name in one.names if name in shared] != [name for name in other.names if name in shared]


@functools.cache
def _names() -> frozenset[str]:
    lines = (resources.files("paraform.rewording") / "names.txt").read_text(encoding="utf-8").splitlines()
    return frozenset(line.lower() for line in lines if not line.startswith("#"))


def _opposed(one: Counter[str], other: Counter[str]) -> bool:
    """Whether one has a word where the other has its opposite."""
    return any(frozenset((word, new)) in _OPPOSITE for word in one - other for new in other - one)


def _exchanged(one: tuple[str, ...], other: tuple[str, ...]) -> bool:
    """Whether two words have each other's place, and all others their own."""
    if len(one) != len(other):
        return False
    places = [at for at, (a, b) in enumerate(zip(one, other, strict=True)) if a != b]
    return len(places) == 2 and [one[at] for at in places] == [other[at] for at in reversed(places)]
