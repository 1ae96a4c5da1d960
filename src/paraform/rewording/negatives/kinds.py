"""All kinds of negatives by name, and sentences to negatives of each."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import TypeAlias

from paraform.records import InputError
from paraform.rewording.negatives import trees, words
from paraform.rewording.negatives.altered import Altered, Read
from paraform.rewording.negatives.lists import Lists, Part, lists
from paraform.rewording.tagged import Tagged
from paraform.syntax.trees import Parser

Kind: TypeAlias = Callable[[Read, Lists, random.Random], Iterator[Altered]]
"""A sentence, the words that stand for others, and what draws → the sentence altered in each place where it can be."""

KINDS: Mapping[str, Kind] = {
    "roles": trees.roles,
    "number": words.number,
    "day": words.day,
    "place": words.place,
    "name": words.name,
    "negation": trees.negation,
    "quantifier": words.quantifier,
    "dropped": trees.dropped,
    "antonym": words.antonym,
    "alike": words.alike,
    "preposition": words.preposition,
    "added": trees.added,
    "modal": words.modal,
    "tense": trees.tense,
    "compared": words.compared,
    "connective": words.connective,
}
HELD_OUT = ("modal", "tense", "compared", "connective", "added")
"""Kinds that the embedded judges have not been trained on, so that they can be measured by them."""


def negatives(
    texts: Sequence[str], kinds: Iterable[str], parse: Parser, *, part: Part = "all", seed: int = 0
) -> list[dict[str, list[Altered]]]:
    """Each text altered in each of these ways, those that are possible; none equals the text but for case.

    Args:
        kinds: names of `KINDS`.
        parse: words to trees, with tags.
        part: of the lists (`lists.lists`).
        seed: with a text it decides what is drawn for it; of `added` with all texts, of which others' adjuncts come.
    Raises: InputError for another kind.
    """
    kinds = tuple(kinds)
    if unknown := {*kinds} - KINDS.keys():
        raise InputError(f"kind {min(unknown)!r}; expected one of {', '.join(KINDS)}")
    read = [Tagged.read(text) for text in texts]
    known = lists(part)
    parsed = [
        Read(one._replace(tags=tree.tags() if tree else ()).commanded(), tree)
        for one, tree in zip(read, parse([one.words for one in read]), strict=True)
    ]
    adjuncts = [found for one in parsed for found in trees.adjuncts_of(one)]
    out = []
    for text, one in zip(texts, parsed, strict=True):
        drawn, row = random.Random(f"{seed} {text}"), {}
        for name in kinds:
            made = trees.added(one, known, drawn, adjuncts) if name == "added" else KINDS[name](one, known, drawn)
            there = {altered.text: altered for altered in made if altered.text.lower() != text.lower()}
            if there:
                row[name] = list(there.values())
        out.append(row)
    return out
