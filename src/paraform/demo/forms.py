"""Forms that fit a text: what sentences of like tags were really reworded into."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from importlib import resources
from typing import final

from rapidfuzz.distance import Levenshtein

LEAST_EDITS = 2  # between the tags of the text and of a form, and between those of any two forms


@final
class Forms:
    """Sentences to take the form of, searched by the tags of what each was a rewording of.

    Args:
        lines: TAB between the source's tags, the form's tags and the form; `Forms.embedded()` has 12,000.
    """

    def __init__(self, lines: Iterable[str]) -> None:
        self._codes: dict[str, str] = {}  # a character a tag: distances of strings are found fast
        rows = (line.split("\t") for line in lines)
        self._forms = [(self._coded(source.split()), self._coded(tags.split()), form) for source, tags, form in rows]

    @classmethod
    def embedded(cls) -> Forms:
        """Of pairs that `compact` was trained on, without the sources' words."""
        return cls((resources.files("paraform.demo") / "forms.tsv").read_text(encoding="utf-8").splitlines())

    def nearest(self, tags: Sequence[str], num: int) -> list[str]:
        """At most `num` forms, those first whose sources' tags are the fewest edits from these."""
        own = self._coded(tags)
        taken, out = [own], list[str]()
        for _, form_tags, form in sorted(self._forms, key=lambda row: Levenshtein.distance(own, row[0])):
            if len(out) == num:
                break
            if all(Levenshtein.distance(form_tags, other) >= LEAST_EDITS for other in taken):
                taken.append(form_tags)
                out.append(form)
        return out

    def _coded(self, tags: Sequence[str]) -> str:
        return "".join(self._codes.setdefault(tag, chr(len(self._codes))) for tag in tags)
