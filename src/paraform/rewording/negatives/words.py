"""Negatives that are one word away: another number, day, place, name or thing, an opposite, more or less of it."""

from __future__ import annotations

import random
import re
from collections.abc import Iterator, Mapping, Sequence

from paraform.rewording.negatives.altered import Altered, Read
from paraform.rewording.negatives.lists import PERSONS, PLACES, Lists
from paraform.words import STOP_WORDS

_COUNTED = ("two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve")
_TENS = ("twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety", "hundred", "thousand", "million")
_ORDINALS = ("first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth", "tenth")
_NUMBER_SETS = (_COUNTED, _TENS, _ORDINALS, ("once", "twice"), ("double", "triple"), ("half", "quarter"))
_DAY_SETS = (
    ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"),
    ("mondays", "tuesdays", "wednesdays", "thursdays", "fridays", "saturdays", "sundays"),
    ("mon", "tue", "wed", "thu", "fri", "sat", "sun"),
    ("january", "february", "april", "june", "july", "august", "september", "october", "november", "december"),
    ("jan", "feb", "mar", "apr", "jun", "jul", "aug", "sep", "oct", "nov", "dec"),
    ("yesterday", "today", "tomorrow"),
    ("morning", "afternoon", "evening"),
    ("second", "minute", "hour", "day", "week", "month", "year", "decade", "century"),
    ("seconds", "minutes", "hours", "days", "weeks", "months", "years", "decades", "centuries"),
    ("daily", "weekly", "monthly", "yearly"),
    ("am", "pm"),
    ("noon", "midnight"),
    ("spring", "summer", "autumn", "winter"),
)
_QUANTIFIERS: Mapping[str, tuple[str, ...]] = {  # a word, and those that say another amount
    **{"all": ("some", "most", "few"), "every": ("no",), "each": ("no",), "most": ("few", "some", "all")},
    **{"many": ("few", "no"), "few": ("many", "most"), "some": ("all", "no", "most"), "several": ("all", "no")},
    **{"no": ("every", "some"), "none": ("all", "some"), "both": ("neither", "one"), "neither": ("both",)},
    **{"everyone": ("someone", "nobody"), "everybody": ("somebody", "nobody"), "nobody": ("everybody", "somebody")},
    **{"everything": ("something", "nothing"), "nothing": ("everything", "something"), "only": ("also", "not")},
    **{"someone": ("everyone", "nobody"), "something": ("everything", "nothing"), "somebody": ("everybody",)},
    **{"everywhere": ("nowhere", "somewhere")},
    **{"always": ("sometimes", "rarely", "never"), "never": ("always", "sometimes", "often")},
    **{"often": ("rarely", "never"), "usually": ("rarely", "never"), "sometimes": ("always", "never")},
    **{"rarely": ("often", "always"), "seldom": ("often", "always"), "also": ("only",)},
    **{"entirely": ("partly",), "completely": ("partly",), "partly": ("completely",), "exactly": ("nearly",)},
    **{"almost": ("exactly", "not"), "least": ("most",)},
}
_IMPLIED = {"some", "most", "sometimes", "someone", "somebody", "something", "somewhere", "partly", "one"}
_UNIVERSAL = {"all", "always", "everyone", "everybody", "everything", "everywhere", "completely", "entirely", "both"}
_PREPOSITIONS = (
    ("before", "after", "during"),
    ("with", "without"),
    ("to", "from"),
    ("by", "for"),
    ("above", "below", "behind"),
    ("over", "under"),
    ("inside", "outside"),
    ("against", "for"),
    ("until", "since"),
    ("up", "down"),
)
_MODALS: Mapping[str, tuple[str, ...]] = {
    **{"must": ("may", "might"), "should": ("need not", "may"), "may": ("must", "will"), "might": ("will", "must")},
    **{"will": ("might", "would"), "can": ("must", "should"), "could": ("must",), "would": ("will", "should")},
}
_COMPARED = {"more": "less", "less": "more", "fewer": "more", "better": "worse", "worse": "better"}
_COMPARED |= {"higher": "lower", "lower": "higher", "larger": "smaller", "smaller": "larger", "older": "younger"}
_COMPARED |= {"younger": "older", "longer": "shorter", "shorter": "longer", "faster": "slower", "slower": "faster"}
_COMPARED |= {"cheaper": "dearer", "earlier": "later", "later": "earlier", "stronger": "weaker", "weaker": "stronger"}
_COMPARED |= {"bigger": "smaller", "greater": "smaller", "most": "least", "best": "worst", "worst": "best"}
_COMPARED |= {"largest": "smallest", "smallest": "largest", "highest": "lowest", "lowest": "highest"}
_COMPARED |= {"oldest": "youngest", "youngest": "oldest", "earliest": "latest", "biggest": "smallest"}
_CONNECTIVES: Mapping[str, tuple[str, ...]] = {
    **{"because": ("although", "until"), "although": ("because",), "though": ("because",), "if": ("unless",)},
    **{"unless": ("if",), "while": ("before", "after"), "so": ("but",), "therefore": ("however",)},
    **{"when": ("before", "unless"), "despite": ("because of",), "until": ("after", "once"), "but": ("so",)},
}


AUXILIARIES = {"is", "are", "was", "were", "am", "has", "have", "had", "do", "does", "did", "can", "could", "will"}
AUXILIARIES |= {"would", "should", "must", "may", "might"}
STEMS = {"ca": "can", "wo": "will", "sha": "shall"}  # of "can't", "won't", "shan't"
_TURNING = {"?", "all", "almost", "always", "avoid", "avoided", "avoids", "barely", "can", "could", "denied"}
_TURNING |= {"denies", "deny", "doubt", "doubted", "doubts", "each", "every", "everybody", "everyone", "everything"}
_TURNING |= {"fail", "failed", "fails", "few", "first", "hardly", "how", "if", "keeps", "kept", "lack", "lacked"}
_TURNING |= {"lacks", "last", "less", "may", "might", "most", "must", "n't", "nearly", "neither", "never", "no"}
_TURNING |= {"nobody", "none", "nor", "not", "nothing", "only", "please", "prevent", "prevented", "prevents", "rarely"}
_TURNING |= {"refuse", "refused", "refuses", "seldom", "should", "than", "to", "unless", "until", "what", "whether"}
_TURNING |= {"who", "without", "would"}


def number(read: Read, lists: Lists, drawn: random.Random) -> Iterator[Altered]:
    """Another number, in digits or as a word."""
    for at, word in enumerate(read.lowered):
        if re.search(r"\d", word):
            if (new := _other_number(read.tagged.words[at], drawn)) != read.tagged.words[at]:
                yield Altered(read.with_words({at: new}))
        else:
            yield from _of_sets(read, at, word, _NUMBER_SETS, drawn, tags=("CD", "JJ", "RB", "NN", "DT", "PDT"))


def _other_number(word: str, drawn: random.Random) -> str:
    """A number near enough to be taken for it; of what holds letters, one digit."""
    plain = word.replace(",", "")
    if plain.isdecimal() and not (len(plain) > 1 and plain[0] == "0") and len(plain) <= 9:
        value = int(plain)
        steps = [1, 2, 3, -1, -2, -3] if value < 100 or 1000 <= value <= 2100 else [10, -10, 100, -100, value]
        others = [value + step for step in steps if value + step > 0]
        new = drawn.choice([*others, value * 10] if value < 100 else others)
        return f"{new:,}" if "," in word else str(new)
    places = [found.start() for found in re.finditer(r"\d", word)]
    at = drawn.choice(places)
    digit = drawn.choice([one for one in "123456789" if one != word[at]])
    return word[:at] + digit + word[at + 1 :]


def day(read: Read, lists: Lists, drawn: random.Random) -> Iterator[Altered]:
    """Another day, month or time."""
    for at, word in enumerate(read.lowered):
        if word in ("second", "am", "mon", "sat", "sun", "mar", "spring") and not _is_time(read, at, word):
            continue
        yield from _of_sets(read, at, word, _DAY_SETS, drawn)


def _is_time(read: Read, at: int, word: str) -> bool:
    before = read.lowered[at - 1] if at else ""
    return bool(re.search(r"\d", before)) or (word == "spring" and before in ("in", "last", "next", "this"))


def place(read: Read, lists: Lists, drawn: random.Random) -> Iterator[Altered]:
    """Another city, country, region or river."""
    yield from _of_names(read, lists, PLACES, drawn)


def name(read: Read, lists: Lists, drawn: random.Random) -> Iterator[Altered]:
    """Another person or company; of a name that no list has, a surname."""
    yield from _of_names(read, lists, PERSONS, drawn)
    words, tags = read.tagged.words, read.tagged.tags
    for at, (word, tag) in enumerate(zip(words, tags, strict=True)):
        known = word in lists.kinds or not word.isalpha() or not word[:1].isupper() or word.isupper()
        inside = at > 0 and (words[at - 1][:1].islower() or tags[at - 1] == "NNP")
        last = at + 1 == len(tags) or tags[at + 1] not in ("NNP", "NNPS", "CD", "POS", "NN", "NNS")
        if tag == "NNP" and inside and last and not known and len(word) > 3:
            yield Altered(read.with_words({at: drawn.choice(lists.names["surname"])}))


def quantifier(read: Read, lists: Lists, drawn: random.Random) -> Iterator[Altered]:
    """Another amount: "all" is "some"; what is so of all is so of some, if nothing around turns that about.

    Of what asks for yes or no, or how many, none: with another amount it asks the same, or nothing.
    """
    words = read.lowered
    if asks_whether(read):
        return
    for at, word in enumerate(words):
        before, behind, tag = words[at - 1 : at], words[at + 1 : at + 2], read.tagged.tags[at]
        fixed = before in (["a"], ["at"], ["after"], ["above"], ["not"], ["the"]) or behind in (["longer"], ["matter"])
        fixed = fixed or (word == "many" and before in (["how"], ["so"], ["as"], ["too"]))
        if fixed or tag in ("RBS", "JJS", "UH") or (word == "no" and behind == [","]):
            continue  # "a few", "at all", "the most popular", "No, I did"
        for new in drawn.sample(_QUANTIFIERS.get(word, ()), len(_QUANTIFIERS.get(word, ()))):
            implied = new in _IMPLIED and word in _UNIVERSAL and says_plainly(read, but=at)
            yield Altered(read.with_words({at: new}), True if implied else None if new in _IMPLIED else False, None)


def antonym(read: Read, lists: Lists, drawn: random.Random) -> Iterator[Altered]:
    """The opposite of a word; of what asks for yes or no, or how much, none, which asks the same."""
    if asks_whether(read) or ("how" in read.lowered and "?" in read.lowered):
        return
    yield from _of_list(read, lists.opposites, drawn)


def alike(read: Read, lists: Lists, drawn: random.Random) -> Iterator[Altered]:
    """Another thing of its kind: "train" is "bus"."""
    yield from _of_list(read, lists.alike, drawn)


def preposition(read: Read, lists: Lists, drawn: random.Random) -> Iterator[Altered]:
    """Another preposition that says something else: "before" is "after"."""
    for at, (word, tag) in enumerate(zip(read.lowered, read.tagged.tags, strict=True)):
        verb_follows = at + 1 < len(read.lowered) and read.tagged.tags[at + 1].startswith(("VB", "RB"))
        fixed = read.lowered[at - 1 : at] in (["different"], ["according"], ["due"], ["as"], ["relate"], ["relates"])
        if tag in ("IN", "TO", "RP") and not (word == "to" and verb_follows) and not fixed:
            yield from _of_sets(read, at, word, _PREPOSITIONS, drawn)


def modal(read: Read, lists: Lists, drawn: random.Random) -> Iterator[Altered]:
    """What must be may be; of a statement, since "could you" asks what "would you" does."""
    words = read.lowered
    if words[-1:] == ["?"] or (read.tagged.tags[:1] and read.tagged.tags[0] in ("MD", "WRB", "WP", "WDT")):
        return
    for at, (word, tag) in enumerate(zip(words, read.tagged.tags, strict=True)):
        if tag == "MD" and word in _MODALS and words[at + 1 : at + 2] not in (["n't"], ["not"]):
            yield Altered(read.with_words({at: drawn.choice(_MODALS[word])}), None, None)


def compared(read: Read, lists: Lists, drawn: random.Random) -> Iterator[Altered]:
    """More is less."""
    for at, word in enumerate(read.lowered):
        behind = {"than"} & {*read.lowered[at + 1 : at + 6]} or read.tagged.tags[at] in ("JJS", "RBS")
        if word in _COMPARED and behind:
            yield Altered(read.with_words({at: _COMPARED[word]}))


def connective(read: Read, lists: Lists, drawn: random.Random) -> Iterator[Altered]:
    """Another word between two clauses: "because" is "although"."""
    words, tags = read.lowered, read.tagged.tags
    for at, word in enumerate(words):
        clause = {"VBZ", "VBP", "VBD", "MD"} & {*tags[at + 1 :]} and tags[at] in ("IN", "WRB", "RB", "CC")
        if word in _CONNECTIVES and clause and words[at - 1 : at] != ["even"]:
            yield Altered(read.with_words({at: drawn.choice(_CONNECTIVES[word])}), None, None)


def says_plainly(read: Read, *, but: int = -1) -> bool:
    """Whether nothing in a sentence turns about what follows from what: no denial, condition, question or measure.

    Args:
        but: the place of a word that is not looked at.
    """
    words = [word for at, word in enumerate(read.lowered) if at != but]
    tags = read.tagged.tags
    asks = tags[:1] in (("WRB",), ("WP",), ("WDT",), ("MD",)) or words[:1] in (
        ["is"],
        ["are"],
        ["do"],
        ["does"],
        ["did"],
    )
    return _TURNING.isdisjoint(words) and not asks and "JJS" not in tags and "RBS" not in tags


def asks_whether(read: Read) -> bool:
    """Whether the sentence asks for yes or no, or has such a question within: denied it asks for the same."""
    words, tags = read.lowered, read.tagged.tags
    first = bool(words) and (words[0] in AUXILIARIES or words[0] in STEMS)
    tagged_on = words[-1:] == ["?"] and bool({"n't"} & {*words[-4:]})
    within = any(word in ("whether", "if") and tags[at - 1].startswith("VB") for at, word in enumerate(words) if at)
    return first or tagged_on or within


def _of_sets(
    read: Read,
    at: int,
    word: str,
    sets: Sequence[Sequence[str]],
    drawn: random.Random,
    tags: Sequence[str] = (),
) -> Iterator[Altered]:
    if tags and read.tagged.tags[at] not in tags:
        return
    for some in sets:
        if word in some:
            others = [one for one in some if one != word and one not in read.lowered]
            if others:
                yield Altered(read.with_words({at: drawn.choice(others)}))


def _of_list(read: Read, others: Mapping[tuple[str, str], Sequence[str]], drawn: random.Random) -> Iterator[Altered]:
    for at, (word, tag) in enumerate(zip(read.lowered, read.tagged.tags, strict=True)):
        tag = {"RP": "IN", "NNP": "NN", "NNPS": "NNS"}.get(tag, tag)
        fits = [one for one in others.get((word, tag), ()) if one not in read.lowered]
        if fits and word not in STOP_WORDS - {"before", "after", "above", "below", "off", "on", "up", "down"}:
            yield Altered(read.with_words({at: drawn.choice(fits)}))


def _of_names(read: Read, lists: Lists, kinds: Sequence[str], drawn: random.Random) -> Iterator[Altered]:
    for at, word in enumerate(read.tagged.words):
        kind = lists.kinds.get(word) or lists.kinds.get(word.title() if word.islower() and len(word) > 3 else "")
        if kind is not None and kind in kinds:
            others = [one for one in lists.names[kind] if one not in read.tagged.words]
            new = drawn.choice(others)
            yield Altered(read.with_words({at: new.lower() if word.islower() else new}))
