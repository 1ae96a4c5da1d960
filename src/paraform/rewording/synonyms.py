"""Words that replace each other in nearly every sentence: `synonyms.txt`.

`a = b`: one for the other; `a > b`: only b for a; `a/VB > b`: only where a has that tag.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Sequence
from importlib import resources
from typing import NamedTuple

from paraform.rewording.frames import LONGEST, Rewritten
from paraform.rewording.slots import Form

_DUTIES = (("need", "to"), ("have", "to"))
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
        tags: that the phrase's words must have; "": any.
        new: the words for it.
    """

    tags: Form
    new: Form


def substitute(words: Sequence[str], tags: Sequence[str] = ()) -> list[Rewritten]:
    """The sentence with one phrase of `synonyms.txt` for another, one sentence for each place and each other phrase.

    None of a sentence of more than `LONGEST` words. "a" and "an" before the phrase follow its first sound.

    Args:
        words: in the Penn Treebank's tokenisation, case kept.
        tags: their Penn Treebank tags; without them, phrases that need a tag stay.
    """
    if len(words) > LONGEST:
        return []
    lowered = [word.lower() for word in words]
    out = []
    for start in range(len(words)):
        for size in range(1, min(_longest(), len(words) - start) + 1):
            old, found = tuple(lowered[start : start + size]), tuple(tags[start : start + size]) or ("?",) * size
            for synonym in synonyms().get(old, ()):
                if any(wanted not in ("", tag) for wanted, tag in zip(synonym.tags, found, strict=True)):
                    continue
                if old[-2:] in _DUTIES and _needs_a_thing(lowered[:start], lowered[start + size :]):
                    continue
                before = [*words[:start]]
                if before and lowered[start - 1] in ("a", "an") and _an(old[0]) != _an(synonym.new[0]):
                    before[-1] = before[-1][0] + "n" * _an(synonym.new[0])
                changed = [*before, *synonym.new, *words[start + size :]]
                form = f"{' '.join(old)} → {' '.join(synonym.new)}"
                out.append(Rewritten(changed, form, frozenset(old + synonym.new)))
    return out


def _needs_a_thing(before: Sequence[str], after: Sequence[str]) -> bool:
    """Whether what is needed, or had, may stand before: "what do I need to apply?", "papers that I need to apply"."""
    if after[:1] == ["do"]:
        return False  # "what I need to do"
    return bool(_THINGS.intersection(before)) or (bool(before) and before[-1] not in _NO_THING_BEFORE)


def _an(word: str) -> bool:
    """Whether "an" stands before the word: by its letters, with the usual exceptions."""
    if re.match(r"eu|ewe|one(?!r)|once|uni(?!n|m[^eio])|us[aeu]|ut[ei]|ub[io]|ur[aeiou]|uk\b", word):
        return False
    return re.match(r"[aeiou]|hour|honest|hono|heir|8|11$|18$", word) is not None


@functools.cache
def synonyms() -> dict[Form, tuple[Synonym, ...]]:
    """What may stand for each phrase of `synonyms.txt`."""
    out: dict[Form, tuple[Synonym, ...]] = {}
    for line in (resources.files("paraform.rewording") / "synonyms.txt").read_text(encoding="utf-8").splitlines():
        phrases = [[word.partition("/") for word in phrase.split()] for phrase in re.split("[=>]", line)]
        for old in phrases[:1] if ">" in line else phrases:
            (new,) = (tuple(word for word, _, _ in other) for other in phrases if other is not old)
            key = tuple(word for word, _, _ in old)
            out[key] = (*out.get(key, ()), Synonym(tuple(tag for _, _, tag in old), new))
    return out


@functools.cache
def _longest() -> int:
    return max(map(len, synonyms()))
