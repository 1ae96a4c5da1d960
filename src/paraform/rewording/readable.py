"""Which texts can be reworded at all: English sentences, of a length that a model reads."""

from __future__ import annotations

import re
from collections.abc import Container

from paraform.literals import without_slots
from paraform.words import tokenize

CODE_OR_ADDRESS, SHOUTING, LANGUAGE, SHORT = "code or an address", "shouting", "another language", "too short"
NO_SENTENCE = f"{LANGUAGE}, or no sentence"
FORCED = (CODE_OR_ADDRESS, SHOUTING, LANGUAGE, NO_SENTENCE, SHORT)
"""Reasons that `force` does not ask for."""

LEAST_KNOWN = 0.6  # of three words or more: a sentence of names and slips has as many
LEAST_SURE = 0.85  # the same, where none of the commonest words is there
COMMONEST = re.compile(
    r"the|an?|to|of|in|is|it|i|you|my|for|on|and|do|what|how|can|be|are|have|me|this|that|with|not|if|n't|'s|at|your"
    r"|which|why|there|was|will|or|does|from|when|where|who|any|should|by|so|we|he|she|they|his|her|has|had"
    r"|no|did|all|as|but|would|could|us|our|their|were|please|need|want|help"
)
SYMBOLS = re.compile(r"[{};=<>\\|]|\w\((?:\w*\)|[\"'])")
CODE = re.compile(
    r"\s*(def|class|import|var|function)\b.*[(:=;*]"
    r"|\s*select\s+(?!(?:an?|the|my|your|our|their|this|that|these|one|some|any)\b).*\bfrom\b"
    r"|\s*(insert\s+into|delete\s+from|update\s+\S+\s+set)\b"
    r"|\S+://\S+|\S+@\S+",
    re.I | re.S,
)


def unreadable(text: str, language: Container[str]) -> str:
    """Why a text is better left alone, in a few words; "" if there is no reason.

    Args:
        language: English words, lower-cased.
    """
    letters = [character for character in text if character.isalpha()]
    if not letters:
        return "no words"
    if sum(character.isascii() for character in letters) < 0.8 * len(letters):
        return LANGUAGE
    if len(SYMBOLS.findall(without_slots(text))) >= 2 or (CODE.match(text) and not text.strip().endswith("?")):
        return CODE_OR_ADDRESS
    words = [word for word in tokenize(text) if word.isalpha() or "'" in word]
    if len(letters) > 8 and sum(character.isupper() for character in letters) > 0.6 * len(letters):
        return SHOUTING
    if len(words) < 2:
        return SHORT
    known = sum(word.lower() in language for word in words)
    common = any(COMMONEST.fullmatch(word.lower()) for word in words)
    if len(words) >= 3 and known < (LEAST_KNOWN if common else LEAST_SURE) * len(words):
        return NO_SENTENCE
    return ""
