"""Where the sentences of a text stand: what is between them, and list marks before them, stay as they are."""

from __future__ import annotations

import re
from collections.abc import Iterator

from paraform.literals import literals
from paraform.spans import Span

_MARK = re.compile(r"[ \t]*(?:(?:[-*+•–]|\d{1,3}[.)]|[A-Za-z]\)|\#{1,6}|>+)[ \t]+)*")  # of a list, a heading, a quote
_BREAK = re.compile(r"(?:\r\n|[\r\n\v\f\x85\u2028\u2029])\s*")
_GOES_ON = re.compile(
    r"(?!(?:what|which|who|whose|where|when|why|how|can|could|do|does|did|is|are|was|were|will|would|should|please)\b)"
    r"[^\W\d_A-Z]"
)  # a small letter, but for what opens a question: people write those without capitals, too
_ENDS = re.compile(r"[.?!…:;]['\"”’)\]]*$")
_ASKS = re.compile(r"(?<=\w)(?: ?[?]) ")  # a capital need not follow: "what is it ? where is it"


def parts_of(text: str) -> list[Span]:
    """Where each sentence begins and ends, in order, without the white space around it."""
    spans: list[Span] = []
    for start, end in _blocks(text):
        mark = _MARK.match(text, start, end)
        spans += _sentences(text, mark.end() if mark else start, end)
    return spans


def sentences_of(text: str) -> list[str]:
    """The sentences themselves."""
    return [text[slice(*span)] for span in parts_of(text)]


def _blocks(text: str) -> Iterator[Span]:
    """Lines, but that a sentence goes on over a line break before a small letter."""
    start = 0
    for found in _BREAK.finditer(text):
        before = text[max(start, found.start() - 60) : found.start()].rstrip()
        greeted = before.endswith(",") and found.start() - start < 40  # "Dear Sir,"
        goes_on = _GOES_ON.match(text, found.end()) and not greeted and not _ENDS.search(before)
        if not goes_on or found[0].count("\n") > 1:
            yield start, found.start()
            start = found.end()
    yield start, len(text)


def _sentences(text: str, start: int, end: int) -> Iterator[Span]:
    """The sentences of a block, cut where a blank stands, and neither inside a literal nor before what goes on."""
    from sentencex import segment

    inside = {at for first, last in literals(text[start:end]) for at in range(start + first, start + last)}
    ends, at = list[int](), start
    for sentence in segment("en", text[start:end]):
        ends += [at + asked.end() for asked in _ASKS.finditer(sentence, 0, len(sentence.rstrip()))]
        at += len(sentence)
        ends.append(at)
    for place in ends:
        said, follows = text[start:place], text[place : place + 1]
        apart = text[place - 1 : place].isspace() and place - 1 not in inside
        goes_on = (follows.islower() or follows.isdigit()) and not said.rstrip().endswith("?")
        if said.strip() and (place == end or (apart and not goes_on)):
            yield place - len(said.lstrip()), start + len(said.rstrip())
            start = place
