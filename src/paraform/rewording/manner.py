"""The manner of a text: whether its writer uses capitals, and whether a sentence of his ends with a mark."""

from __future__ import annotations

import re

from paraform.literals import covered, uncovered

_WORD = re.compile(r"[^\W\d_]+(?:['’][^\W\d_]+)*")
_END = re.compile(r"[.?!…][\s\"'”’)\]]*$")


def in_manner(text: str, source: str) -> str:
    """An answer as the writer of its source would type it.

    Of a source that begins with a small letter the words are in the source's case, and new ones small; of one that ends
    without a mark the answer does, too. Literals stay as they are.
    """
    (plain, _), (said, literals) = covered(source), covered(text)
    if not _END.search(plain.rstrip()):
        said = re.sub(r"(?<=[^\s.?!…])\s*[.?!]$", "", said)
    opening = _WORD.search(plain)
    if opening and opening[0][0].islower() and opening[0].islower():
        own = {word.lower(): word for word in reversed(_WORD.findall(plain))}
        said = _WORD.sub(lambda found: own.get(found[0].lower(), found[0].lower()), said)
    return "".join(uncovered([said], literals))
