"""Words that stand where another stands and say something else: opposites, things of one kind, names.

Shape of the files: `opposites.txt` and `alike.txt` have a tag and base forms of it a line, no two of which say the
same; `names.txt` has a kind and a name a line.
"""

from __future__ import annotations

import functools
import hashlib
from collections.abc import Mapping, Sequence
from importlib import resources
from typing import Literal, NamedTuple, TypeAlias

from paraform.corpora.components import components
from paraform.rewording.inflection import forms

Part: TypeAlias = Literal["training", "held out", "all"]
SHARE = 4  # one of so many groups of lines is held out
PLACES = ("city", "country", "region", "river")
PERSONS = ("woman", "man", "surname", "company", "people")


class Lists(NamedTuple):
    """Other words by the word that they stand for, lower-cased, and its tag; names by the name, and by their kind."""

    opposites: Mapping[tuple[str, str], Sequence[str]]
    alike: Mapping[tuple[str, str], Sequence[str]]
    kinds: Mapping[str, str]
    names: Mapping[str, Sequence[str]]


@functools.cache
def lists(part: Part = "all") -> Lists:
    """Those of the files' lines.

    Args:
        part: what a judge is measured by must be another part than what it learned from.
    """
    named = [line.split() for line in _lines("names.txt", part)]
    names: dict[str, list[str]] = {}
    for kind, name in named:
        names.setdefault(kind, []).append(name)
    kinds = {name: kind for kind, name in named}
    return Lists(_others("opposites.txt", part), _others("alike.txt", part), kinds, names)


def _others(file: str, part: Part) -> dict[tuple[str, str], list[str]]:
    out: dict[tuple[str, str], list[str]] = {}
    for line in _lines(file, part):
        tag, *bases = line.split()
        table = [forms(base, tag) for base in bases]
        for own in table:
            for form_tag, form in own.items():
                if form_tag in ("JJR", "JJS"):
                    continue  # "older" is "younger" by `words.compared`, which is held out
                there = [other[form_tag] for other in table if other is not own and form_tag in other]
                out.setdefault((form, form_tag), []).extend(one for one in there if one != form)
    return {key: found for key, found in out.items() if found}


def _lines(file: str, part: Part) -> list[str]:
    every = _every_line(file)
    if part == "all":
        return every
    held = _held_out()
    return [line for line in every if (line.split()[1] in held) == (part == "held out")]


@functools.cache
def _every_line(file: str) -> list[str]:
    text = (resources.files("paraform.rewording.negatives") / file).read_text(encoding="utf-8")
    return [line for line in text.splitlines() if line and not line.startswith("#")]


@functools.cache
def _held_out() -> frozenset[str]:
    """Words of the lines that are held out: lines that share a word, of whatever file, are on one side."""
    rows = [line.split()[1:] for file in ("opposites.txt", "alike.txt", "names.txt") for line in _every_line(file)]
    number = {word: at for at, word in enumerate(dict.fromkeys(word for row in rows for word in row))}
    roots = components(len(number), [(number[row[0]], number[word]) for row in rows for word in row])
    first: dict[int, str] = {}
    for word, at in number.items():
        first[roots[at]] = min(first.get(roots[at], word), word)
    return frozenset(word for word, at in number.items() if _digest(first[roots[at]]) % SHARE == 0)


def _digest(word: str) -> int:
    return hashlib.sha256(word.encode()).digest()[0]
