"""Words with their places in the text that they come from, and words put together as that text has them.

From words alone a text's blanks can only be guessed. What stands side by side in the source stands in the output as the
source has it, character for character.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Sequence
from typing import NamedTuple, TypeAlias

from paraform.literals import literals
from paraform.words import detokenize, tokenize, unescape

Span: TypeAlias = tuple[int, int]

_QUOTES = ("``", "''")
_IRREGULAR = {"will": "wo", "shall": "sha"}  # before n't: the only words whose letters `detokenize` changes
_TOKENISED = re.compile(r" (?:n't|'(?:s|re|m|ve|ll|d)|[.?!]$)(?!\S)", re.IGNORECASE)  # as treebanks write it


class Cut(NamedTuple):
    """A text and its words.

    Args:
        words: as `words.tokenize` has them.
        spans: where each begins and ends in the text.
        literal: whether each holds a literal, which is copied as it stands.
    """

    text: str
    words: tuple[str, ...]
    spans: tuple[Span, ...]
    literal: tuple[bool, ...]


@functools.lru_cache(maxsize=4096)
def cut(text: str) -> Cut:
    """The words of a text, with their places. Raises: InputError as `words.tokenize`."""
    words = tokenize(text)
    spans = places(words, text)
    inside = bytearray(len(text))
    for start, end in literals(text):
        inside[start:end] = b"\1" * (end - start)
    return Cut(text, tuple(words), tuple(spans), tuple(any(inside[start:end]) for start, end in spans))


def places(words: Sequence[str], text: str) -> list[Span]:
    """Where each word begins and ends in a text of these words with any blanks between them."""
    spans, end = [], 0
    for word in words:
        start = next((at for at in range(end, len(text)) if not text[at].isspace()), len(text))
        end = start + (1 if word in _QUOTES and text[start : start + 1] == '"' else len(word))
        spans.append((start, end))
    return spans


def written(words: Sequence[str], source: Cut) -> str:
    """The words as one text: those that are neighbours in the source as they stand there, others as a person would.

    A source that was taken apart before, "do n't you ?", has no blanks of its own.

    Args:
        words: cased.
    """
    words, apart = [unescape(word) for word in words], _TOKENISED.search(source.text) is not None
    for place, word in enumerate(words[1:]):
        if word == "n't" and (stem := _IRREGULAR.get(words[place].lower())):
            words[place] = words[place][0] + stem[1:]
    guess = detokenize(words)
    spans = places(words, guess)
    origin = _origins([word.lower() for word in words], [word.lower() for word in source.words])
    pieces: list[str] = []
    end, behind = 0, False  # whether the source's next word is next here, too
    for place, (start, stop) in enumerate(spans):
        at, blank, beside = origin[place], guess[end:start], behind
        behind = at is not None and origin[place + 1 : place + 2] == [at + 1]
        word, end = guess[start:stop], stop
        if at is not None:
            word = _as_there(word, source, at, beside or behind)
            there = source.text[source.spans[at - 1][1] : source.spans[at][0]] if beside else blank
            blank = blank if apart and there == " " else there
        pieces += [blank, word]
    return "".join(pieces)


def _as_there(word: str, source: Cut, at: int, beside: bool) -> str:
    """A word in the source's characters and its own case.

    Args:
        beside: whether a neighbour of the source's stands beside it: "dont" is "do n't" to the rules, and stays whole.
    """
    there = source.text[slice(*source.spans[at])]
    if source.literal[at] or source.words[at] in _QUOTES:
        return there
    if len(there) == len(word):
        return "".join(one if one.lower() == other.lower() else other for one, other in zip(word, there, strict=True))
    return there if beside else word


def _origins(words: Sequence[str], source: Sequence[str]) -> list[int | None]:
    """Which word of the source each word is, the longest runs of neighbours taken together; None for a new one."""
    starts: dict[str, list[int]] = {}
    for at, word in enumerate(source):
        starts.setdefault(word, []).append(at)
    origin: list[int | None] = []
    while len(origin) < len(words):
        place = len(origin)
        lengths = {at: _length(words, place, source, at) for at in starts.get(words[place], ())}
        if not lengths:
            origin.append(None)
            continue
        best = max(lengths, key=lambda at: lengths[at])
        origin += range(best, best + lengths[best])
    return origin


def _length(one: Sequence[str], place: int, other: Sequence[str], at: int) -> int:
    """How many words are the same from these places on."""
    count = 0
    while place + count < len(one) and at + count < len(other) and one[place + count] == other[at + count]:
        count += 1
    return count
