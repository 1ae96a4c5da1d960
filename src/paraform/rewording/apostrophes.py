"""Contractions that are written without their apostrophe, "dont", as the treebank's two words."""

from __future__ import annotations

import re
from collections.abc import Sequence

# "wont", "cant" and "id" are words too, but hardly where people write like this; "its", "were" and "ill" often are.
_DENIED = re.compile("(do|does|did|is|are|was|have|has|had|would|could|should|wo|ca)nt", re.IGNORECASE)
_JOINED = {"im": ("i", "'m"), "ive": ("i", "'ve"), "youre": ("you", "'re"), "youve": ("you", "'ve")}
_JOINED |= {"thats": ("that", "'s"), "whats": ("what", "'s"), "theres": ("there", "'s"), "theyre": ("they", "'re")}


def with_apostrophes(words: Sequence[str]) -> list[str]:
    """The words, case kept: "dont" becomes "do", "n't"; "Im" becomes "I", "'m"."""
    out: list[str] = []
    for word in words:
        if found := _DENIED.fullmatch(word):
            out += [found[1], "N'T" if word.isupper() else "n't"]
        elif joined := _JOINED.get(word.lower()):
            first, second = joined
            out += [word[: len(first)], second.upper() if word.isupper() else second]
        else:
            out.append(word)
    return out
