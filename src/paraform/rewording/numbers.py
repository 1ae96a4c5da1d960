"""Numbers of a sentence, in digits or as a word."""

from __future__ import annotations

import functools
import re
from collections.abc import Sequence

from paraform.rewording.content import KEPT

_SMALL_NUMBERS = "two three four five six seven eight nine ten eleven twelve"
_TENS = "twen thir for fif six seven eigh nine"
_NUMBER_WORDS = {word: str(number) for number, word in enumerate(_SMALL_NUMBERS.split(), start=2)}
_NUMBER_WORDS |= {f"{word}ty": str(10 * number) for number, word in enumerate(_TENS.split(), start=2)}


def numbers_of(words: Sequence[str]) -> list[str]:
    """The numbers among the words, sorted; 1,000 as 1000, five as 5. "one" is a pronoun, too, and not looked at."""
    return sorted(number for word in words if (number := _number(word)))


@functools.lru_cache(maxsize=KEPT)
def _number(word: str) -> str:
    """A word with digits, 1,000 as 1000, five as 5; "" for another."""
    if word in _NUMBER_WORDS:
        return _NUMBER_WORDS[word]
    return re.sub(r"(?<=\d),(?=\d{3}(?!\d))", "", word.lower()).strip(".,") if re.search(r"\d", word) else ""
