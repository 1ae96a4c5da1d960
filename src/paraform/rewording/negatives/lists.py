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

from paraform.rewording.inflection import forms

Part: TypeAlias = Literal["training", "held out", "all"]
HELD_OUT = 4  # one of so many lines
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
                there = [other[form_tag] for other in table if other is not own and form_tag in other]
                out.setdefault((form, form_tag), []).extend(one for one in there if one != form)
    return {key: found for key, found in out.items() if found}


def _lines(file: str, part: Part) -> list[str]:
    text = (resources.files("paraform.rewording.negatives") / file).read_text(encoding="utf-8")
    every = [line for line in text.splitlines() if line and not line.startswith("#")]
    if part == "all":
        return every
    return [line for line in every if (_number(line) % HELD_OUT == 0) == (part == "held out")]


def _number(line: str) -> int:
    return hashlib.sha256(line.encode()).digest()[0]
