"""A sentence altered so that it says something else, as its writer would have written that."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import NamedTuple

from paraform.rewording.synonyms import takes_an
from paraform.rewording.tagged import Tagged
from paraform.spans import Cut
from paraform.syntax.trees import Tree


class Altered(NamedTuple):
    """What was made of a sentence.

    Args:
        forth: whether the sentence still says all of it, None if that depends; of one without "on Monday" it does.
        back: whether it says all of the sentence.
    """

    text: str
    forth: bool | None = False
    back: bool | None = False


class Read(NamedTuple):
    """A sentence, tagged as it was written, and its tree, None if it has none."""

    tagged: Tagged
    tree: Tree | None

    @property
    def lowered(self) -> list[str]:
        """Its words without case."""
        return self.tagged.lowered

    def with_words(self, changes: Mapping[int, str]) -> str:
        """The text with other words in the places of some, in the case of those; "" takes a word out."""
        return self.with_spans((at, at + 1, new) for at, new in changes.items())

    def with_spans(self, changes: Iterable[tuple[int, int, str]]) -> str:
        """The text with another string in the place of each run of words, from word to word; "" takes them out."""
        text, spans = self.cut.text, self.cut.spans
        for start, end, new in sorted(changes, reverse=True):
            left, right = spans[start][0], spans[end - 1][1]
            if new:
                text = text[:left] + _cased(new, text[left:right]) + text[right:]
            else:
                text = _without(text, left, right, opens=start == 0)
            text = with_article(text, left)
        return text

    @property
    def cut(self) -> Cut:
        """The sentence as it was written."""
        assert self.tagged.cut is not None, "a sentence that was read from a text"
        return self.tagged.cut


def with_article(text: str, place: int) -> str:
    """The text with the "a" or "an" right before a place, if one is there, as the word behind it asks for."""
    before = re.search(r"\b([Aa])n?(\s+)$", text[:place])
    behind = re.match(r"\s*(\w+)", text[place:])
    if before is None or behind is None:
        return text
    return text[: before.start()] + before[1] + "n" * takes_an(behind[1].lower()) + before[2] + text[place:]


def _cased(new: str, old: str) -> str:
    """In capitals as the old one, or with its first capital."""
    if len(old) > 1 and old.isupper():
        return new.upper()
    return new[:1].upper() + new[1:] if old[:1].isupper() else new


def _without(text: str, left: int, right: int, *, opens: bool) -> str:
    """The text without a part, the blank before it and a comma that stood on both sides."""
    before, after = text[:left].rstrip(), text[right:]
    if opens:
        rest = re.sub(r"^[\s,]+", "", after)
        return rest[:1].upper() + rest[1:] if text[:1].isupper() else rest
    if before.endswith(",") and re.match(r"\s*[,.;:?!]|\s*$", after):
        before = before[:-1]
    return before + after
