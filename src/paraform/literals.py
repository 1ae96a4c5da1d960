"""Runs of a text that are one thing and stand as they are: slots, addresses, paths, code, topics, names with an "&".

Each is one word to `words.tokenize`, as the treebanks have it where they have any.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

STAND_IN = "\u0298"  # a letter that hardly any text has
_MAYBE = re.compile(r"[{<\[$%#@/\\&]|[:;=][^\s\d]|\(\)|__|(?i:www)\.")  # every literal holds one of these

_LINK = r"(?:[^\s<>\"()]|\([^\s<>\"()]*\))*(?:[^\s<>\"().,;:!?'\]}]|\([^\s<>\"()]*\))"
_ADDRESS = rf"(?i:https?|ftp)://{_LINK}|(?i:www)\.[\w-]+\.[^\s<>\"]*[\w/]"
_MAIL = r"(?<![\w.+-])[\w.+-]+@[\w-]+(?:\.[\w-]+)+"
_PLACE = r"[/\\](?:[\w.@~%+-]+[/\\])*[\w@~%+-]+(?:\.\w+)*[/\\]?"
_PATH = rf"(?<![^\s(\"'])(?:~|\.\.?)?{_PLACE}"
_DRIVE = rf"(?<!\w)[A-Za-z]:{_PLACE}"
_SLOT = (
    r"\$?\{\{[^{}\n\"';]{1,80}\}\}",  # {{ x }}, ${{ x }}
    r"\$\{[^{}\n\"';]{1,80}\}",
    r"[#%]?\{(?:[^{}\s\"';]{1,80}| ?[\w.:-]{1,80} ?|\w{1,30}(?: \w{1,30}){1,3})\}",
    r"%\(\w+\)[sdifrx]|(?<![\d%])%(?:\d\$)?[-+0]*\d*(?:\.\d+)?[sdifrx](?!\w)",
    r"\$(?![A-Z]{1,3}\d)[A-Za-z_]\w*",
    # [value](name), [text](address "title"), [value]{"entity": "name"}
    r"\[[^\[\]\n]{1,80}\](?:\([^()\s]{1,200}(?: \"[^\"()\n]{1,80}\")?\)|\{[^{}\n]{1,200}\})",
    r"\[[A-Z][A-Z0-9]*(?:[ _-][A-Z0-9]+)*\]|\[\w+_\w+\]",  # [X], [FIRST NAME], [first_name]
    r"</?[A-Za-z_][\w:-]*/?>",
    r"<(?:a|img|span|g|ph|x)(?: [\w:-]+=(?:\"[^\"<>\n]{0,200}\"|'[^'<>\n]{0,200}')){1,9} ?/?>",  # within a sentence
    r"(?<!\w)__[A-Za-z]\w*?__(?!\w)",
    r"(?<![\w#])#[A-Za-z_]\w*#(?!\w)",
    r"(?<![\w:]):[a-z_+-][\w+-]*:(?![\w:])",
)
_CALL = r"(?<![\w.])[A-Za-z_][\w.]*\(\)"
_TOPIC = r"(?<![\w#&/])#[A-Za-z_]\w*|(?<![\w@])@[A-Za-z_]\w*"
_JOINED = r"(?<![\w&])[^\W\d_]+(?:&(?:amp;)?[^\W\d_]+)+(?![\w&])|&(?:[a-z]{2,8}|\#\d{1,6});"  # AT&T; &amp;
_SMILEY = r"(?<!\S)(?:[:;=]['o-]?[()DPp/\\|*]|<3)(?=[\s.,!?]|$)"
# Those that begin with a letter are tried at every letter, so that a text without their marks is spared them.
_MARKED = (*_SLOT, _PATH, _TOPIC, _SMILEY)
_ALL = re.compile("|".join((_ADDRESS, _MAIL, _DRIVE, _CALL, _JOINED, *_MARKED)))
_MARKED_ALONE = re.compile("|".join(_MARKED))
_SLOTS = re.compile("|".join(_SLOT))
_LETTERS_TOO = re.compile(r"://|(?i:www)\.|\w@\w|\w&|&\w|&#|\(\)|\w:[/\\]")


def literals(text: str) -> Iterator[tuple[int, int]]:
    """Where each of them begins and ends, in order; they do not overlap. One may hold blanks: `{{ name }}`."""
    if _MAYBE.search(text):
        pattern = _ALL if _LETTERS_TOO.search(text) else _MARKED_ALONE
        yield from (found.span() for found in pattern.finditer(text))


def covered(text: str) -> tuple[str, list[str]]:
    """The text with a letter that it has nowhere else for each literal, so that no rule looks inside; the literals."""
    found = [] if STAND_IN in text else [*literals(text)]
    ends = [0, *(end for _, end in found)]
    between = [text[end:start] for end, (start, _) in zip(ends, [*found, (len(text), 0)], strict=True)]
    return STAND_IN.join(between), [text[start:end] for start, end in found]


def uncovered(words: Iterable[str], found: Iterable[str]) -> list[str]:
    """The words of a covered text, in order, with its literals in their places."""
    left = iter(found)
    return [re.sub(STAND_IN, lambda _: next(left, STAND_IN), word) if STAND_IN in word else word for word in words]


def without_slots(text: str) -> str:
    """The text with a word in the place of each slot, so that braces and percent signs do not look like code."""
    return _SLOTS.sub("it", text)
