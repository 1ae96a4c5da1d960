"""What sentences were really reworded into: for a source, the forms that sources of like tags were given.

A transformation is a training pair without its source's words: the source's tags, and the target as the form.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import overload

import numpy as np
from rapidfuzz import process
from rapidfuzz.distance import Levenshtein

from paraform.records import InputError

FEW = 16  # sources
LEAST_EDITS = 2  # between the tags of the source and of a form, and between the forms of one source
CODES = 48  # characters that stand for tags begin here, a tag a character


@dataclass(frozen=True)
class Transformation:
    """A source's tags, the target and the target's tags."""

    source_tags: tuple[str, ...]
    target: str
    target_tags: tuple[str, ...]


class Transformations(Sequence[Transformation]):
    """A bank of them, searched by the source's tags.

    Args:
        items: N.
    """

    def __init__(self, items: Sequence[Transformation] = ()) -> None:
        self._items = tuple(items)

    def __len__(self) -> int:
        return len(self._items)

    @overload
    def __getitem__(self, place: int) -> Transformation: ...
    @overload
    def __getitem__(self, place: slice) -> Sequence[Transformation]: ...
    def __getitem__(self, place: int | slice) -> Transformation | Sequence[Transformation]:
        return self._items[place]

    @cached_property
    def _code(self) -> dict[str, str]:
        tags = sorted({tag for item in self._items for tag in (*item.source_tags, *item.target_tags)})
        return {tag: chr(CODES + number) for number, tag in enumerate(tags)}

    def _encoded(self, tags: Sequence[str]) -> str:
        return "".join(self._code.get(tag, "\0") for tag in tags)

    @cached_property
    def _sources(self) -> tuple[list[str], list[list[int]]]:
        """The different sequences of source tags, and the transformations of each."""
        places: dict[str, list[int]] = {}
        for place, item in enumerate(self._items):
            places.setdefault(self._encoded(item.source_tags), []).append(place)
        return list(places), list(places.values())

    def forms(self, tags: Sequence[Sequence[str]], num: int) -> list[list[str]]:
        """For each source at most `num` targets of the transformations whose source's tags are nearest.

        No form has the source's own tags, or another form's, but for fewer than `LEAST_EDITS` edits.

        Args:
            tags: each source's.
        """
        if not self._items or not tags or num < 1:
            return [[] for _ in tags]
        sequences, places = self._sources
        asked = [self._encoded(row) for row in tags]
        workers = 1 if len(asked) <= FEW else -1  # of few, waiting for other cores takes longer than the work
        distances = process.cdist(asked, sequences, scorer=Levenshtein.distance, dtype=np.uint16, workers=workers)
        out = []
        for own, row in zip(asked, distances, strict=True):
            seen = [own]
            forms: list[str] = []
            for at in np.argsort(row, kind="stable"):
                for place in places[at]:
                    form = self._encoded(self._items[place].target_tags)
                    if all(Levenshtein.distance(form, other) >= LEAST_EDITS for other in seen):
                        seen.append(form)
                        forms.append(self._items[place].target)
                    if len(forms) == num:
                        break
                if len(forms) == num:
                    break
            out.append(forms)
        return out

    def to_text(self) -> str:
        """As `read` takes it: source tags, target tags and target, TAB between them, a line each; none holds either."""
        return "".join(
            f"{' '.join(item.source_tags)}\t{' '.join(item.target_tags)}\t{item.target}\n" for item in self._items
        )

    @classmethod
    def read(cls, text: str) -> Transformations:
        """What `to_text` wrote. Raises: InputError for a line of another shape, or one that is cut."""
        items = []
        if text and not text.endswith("\n"):
            raise InputError(f"the bank ends in {text[-40:]!r}, without a line end; it is cut")
        for number, line in enumerate(text.split("\n")[:-1], start=1):
            parts = line.split("\t")
            if len(parts) != 3 or not all(part.strip() for part in parts):
                raise InputError(f"line {number:,} of the bank: {line[:40]!r}; expected tags, tags and a sentence")
            items.append(Transformation(tuple(parts[0].split()), parts[2], tuple(parts[1].split())))
        return cls(items)
