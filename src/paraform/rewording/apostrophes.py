"""Contractions that are written without their apostrophe, "dont", as the treebank's two words."""

from __future__ import annotations

import re

from paraform.spans import Cut

# "wont", "cant" and "id" are words too, but hardly where people write like this; "its", "were" and "ill" often are.
_DENIED = re.compile("(do|does|did|is|are|was|have|has|had|would|could|should|wo|ca)nt", re.IGNORECASE)
_JOINED = {"im": ("i", "'m"), "ive": ("i", "'ve"), "youre": ("you", "'re"), "youve": ("you", "'ve")}
_JOINED |= {"thats": ("that", "'s"), "whats": ("what", "'s"), "theres": ("there", "'s"), "theyre": ("they", "'re")}


def with_apostrophes(source: Cut) -> Cut:
    """The words, case kept: "dont" becomes "do", "n't"; "Im" becomes "I", "'m"; each with its own letters' place."""
    out: list[tuple[str, tuple[int, int], bool]] = []
    for word, (start, end), literal in zip(source.words, source.spans, source.literal, strict=True):
        if found := _DENIED.fullmatch(word):
            first, second = found[1], "N'T" if word.isupper() else "n't"
        elif joined := _JOINED.get(word.lower()):
            first, second = word[: len(joined[0])], joined[1].upper() if word.isupper() else joined[1]
        else:
            out.append((word, (start, end), literal))
            continue
        middle = start + len(first)
        out += [(first, (start, middle), False), (second, (middle, end), False)]
    words, spans, literals = zip(*out, strict=True) if out else ((), (), ())
    return Cut(source.text, words, spans, literals)
