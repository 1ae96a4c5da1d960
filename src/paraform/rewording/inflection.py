"""The forms of English words: irregular verbs by `irregular.txt`, irregular nouns by a list, all others by rule."""

from __future__ import annotations

import functools
import re
from collections.abc import Mapping
from importlib import resources

DOUBLED = {"refer", "prefer", "occur", "admit", "permit", "commit", "transfer", "control", "cancel", "travel", "emit"}
DOUBLED |= {"regret", "submit", "omit", "equip", "infer", "defer", "compel", "expel", "patrol", "rebel", "repel"}
DOUBLED |= {"unplug", "unzip", "unpin", "begin", "forget", "upset", "reset", "unwrap", "forbid", "acquit", "kidnap"}
_PLURALS = {"child": "children", "foot": "feet", "tooth": "teeth", "mouse": "mice", "goose": "geese", "ox": "oxen"}
_PLURALS |= {"person": "people", "leaf": "leaves", "shelf": "shelves", "loaf": "loaves", "thief": "thieves"}
_PLURALS |= {"half": "halves", "calf": "calves", "wolf": "wolves", "scarf": "scarves", "potato": "potatoes"}
_PLURALS |= {"tomato": "tomatoes", "hero": "heroes", "echo": "echoes", "fish": "fish", "sheep": "sheep", "deer": "deer"}
_PLURALS |= {"salmon": "salmon", "trout": "trout", "bus": "buses", "gas": "gases", "lens": "lenses"}
_COMPARED = {"good": ("better", "best"), "bad": ("worse", "worst"), "far": ("farther", "farthest")}
_SLIPS = {"develope"}  # words that the n-grams know and that are none
_THIRD = {"be": "is", "have": "has"}


def past(verb: str) -> str:
    """The past tense of a base verb: "went" of "go"."""
    return irregular()[verb][0] if verb in irregular() else _regular(verb)


def participle(verb: str) -> str:
    """The past participle of a base verb: "gone" of "go"."""
    return irregular()[verb][1] if verb in irregular() else _regular(verb)


def third(verb: str) -> str:
    """The third person of a base verb: "goes" of "go"."""
    return _THIRD.get(verb) or (verb + "es" if re.search(r"[^aeiou]o$", verb) else _with_s(verb))


def forms(base: str, tag: str) -> Mapping[str, str]:
    """The forms of a word by their Penn Treebank tags.

    Args:
        tag: of the base form: NN, VB, JJ, or another, which has one form.
    """
    if tag == "NN":
        return {"NN": base, "NNS": plural(base)}
    if tag == "VB":
        return {
            **dict.fromkeys(("VB", "VBP"), base),
            "VBZ": third(base),
            "VBD": past(base),
            "VBN": participle(base),
            "VBG": _gerund(base),
        }
    return {"JJ": base, **_compared(base)} if tag == "JJ" else {tag: base}


def base_of(form: str, tag: str) -> str:
    """The base of a verb's third person (VBZ) or past tense (VBD), a word that the n-grams know; "" if none is."""
    if tag == "VBD" and form in _bases():
        return _bases()[form]
    if tag == "VBZ":
        tries = [form[:-3] + "y", form[:-1], form[:-2]]
    else:  # "stopped" is of "stop", "created" of "create" rather than "creat", but "added" of "add"
        bare, once = form[:-2], form[:-3] * (form[-3:-2] == form[-4:-3])
        tries = [bare, once] if bare[-2:] in ("dd", "ff", "ll", "ss", "zz") else [once, form[:-1], bare]
        tries = [form[:-3] + "y", *tries]
    fits = (base for base in tries if len(base) > (tag == "VBD") + 1 and forms(base, "VB")[tag] == form)
    return next((base for base in fits if base in _known() and base not in _SLIPS), "")


def plural(noun: str) -> str:
    """The plural of a noun: "children" of "child"."""
    if noun in _PLURALS:
        return _PLURALS[noun]
    if noun.endswith("man") and noun not in ("human", "german", "roman", "woman"):
        return noun[:-2] + "en"
    if noun == "woman":
        return "women"
    return noun[:-2] + "ves" if re.search(r"[li]fe$", noun) else _with_s(noun)


def _with_s(word: str) -> str:
    if re.search(r"(?:s|x|z|ch|sh)$", word):
        return word + "es"
    return re.sub(r"(?<=[^aeiou])y$", "ie", word) + "s"


def _gerund(verb: str) -> str:
    if verb.endswith("ie"):
        return verb[:-2] + "ying"
    if re.search(r"[^eoy]e$", verb) and verb != "be":
        return verb[:-1] + "ing"
    return verb + verb[-1] * _doubles(verb) + "ing"


def _compared(adjective: str) -> dict[str, str]:
    """Comparative and superlative of a short one; of a longer one none, which has "more" and "most"."""
    if adjective in _COMPARED:
        return dict(zip(("JJR", "JJS"), _COMPARED[adjective], strict=True))
    one_beat = re.fullmatch(r"[^aeiouy]*[aeiouy]{1,2}[^aeiouy]*e?", adjective) is not None
    if not one_beat and not re.search(r"[^aeiou]y$", adjective):
        return {}
    stem = re.sub(r"(?<=[^aeiou])y$", "i", adjective).removesuffix("e")
    stem += stem[-1] * (re.fullmatch(r"[^aeiou]*[aeiou][^aeiouwxy]", adjective) is not None)
    return {"JJR": stem + "er", "JJS": stem + "est"}


def _regular(verb: str) -> str:
    if verb.endswith("e"):
        return verb + "d"
    if re.search(r"[^aeiou]y$", verb):
        return verb[:-1] + "ied"
    return verb + verb[-1] * _doubles(verb) + "ed"


def _doubles(verb: str) -> bool:
    """Whether its last letter stands twice before an ending: "stop", "refer"."""
    short = re.fullmatch(r"(?:[^aeiou]|qu)*[aeiou][^aeiouwxy]", verb) is not None and verb[-2:] != "en"
    return short or verb in DOUBLED


@functools.cache
def _bases() -> dict[str, str]:
    return {past: base for base, (past, _) in irregular().items()}


@functools.cache
def _known() -> frozenset[str]:
    text = (resources.files("paraform") / "pretrained" / "fluency" / "words.txt").read_text(encoding="utf-8")
    return frozenset(text.split())


@functools.cache
def irregular() -> dict[str, tuple[str, str]]:
    """Past tense and participle by base."""
    text = (resources.files("paraform.rewording") / "irregular.txt").read_text(encoding="utf-8")
    rows = (line.split() for line in text.splitlines() if not line.startswith("#"))
    return {row[0]: (row[1], row[-1]) for row in rows}
