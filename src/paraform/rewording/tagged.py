"""A sentence as words and their tags, and where it comes from."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from paraform.rewording.apostrophes import with_apostrophes
from paraform.spans import Cut, cut

_ALIKE_IN_THE_PAST = {
    "set",
    "reset",
    "put",
    "cut",
    "let",
    "shut",
    "hit",
    "read",
    "split",
    "spread",
    "cast",
    "bid",
    "quit",
}
_NO_COMMAND = {
    "am",
    "are",
    "do",
    "have",
    "agree",
    "disagree",
    "recommend",
    "appreciate",
    "like",
    "love",
    "hate",
    "prefer",
}
_NO_COMMAND |= {
    "need",
    "want",
    "know",
    "feel",
    "seem",
    "deserve",
    "miss",
    "wish",
    "think",
}  # "love this place": "I" is left out


class Tagged(NamedTuple):
    """Words of a sentence, case kept, and their tags.

    Args:
        cut: the sentence as it was written, with the places of these words; None: words alone are known.
    """

    words: Sequence[str]
    tags: Sequence[str]
    cut: Cut | None = None

    @classmethod
    def read(cls, text: str) -> Tagged:
        """A text without tags yet, its contractions with their apostrophes."""
        found = with_apostrophes(cut(text))
        return cls(found.words, (), found)

    def commanded(self) -> Tagged:
        """With the tag of a base verb at its beginning, where a tagger that expects a subject has one of a finite verb.

        "Request two days off", "Set a timer": nobody's and no past.
        """
        lowered = self.lowered
        at = 1 if lowered[:1] == ["please"] else 0
        if at + 1 >= len(self.tags):
            return self
        word, tag = lowered[at], self.tags[at]
        past = tag in ("VBD", "VBN") and word in _ALIKE_IN_THE_PAST
        present = tag == "VBP" and word not in _NO_COMMAND and "'" not in word
        if (past or present) and self.tags[at + 1] not in ("VBD", "VBZ", "VBP", "MD"):  # "Lay had refused": a name
            return self._replace(tags=[*self.tags[:at], "VB", *self.tags[at + 1 :]])
        return self

    @property
    def lowered(self) -> list[str]:
        """The words without case."""
        return [word.lower() for word in self.words]

    @property
    def text(self) -> str:
        """As it was written; of words alone, with a blank between any two."""
        return " ".join(self.words) if self.cut is None else self.cut.text
