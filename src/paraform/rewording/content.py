"""The words of a sentence that say something, and whether another sentence has them in any form."""

from __future__ import annotations

import functools
import re
from collections.abc import Sequence

from paraform.rewording.roles import LIGHT
from paraform.rewording.tagged import Tagged

NEGATIONS = {"n't", "not", "no", "never", "none", "nobody", "nothing", "nowhere", "neither", "nor", "without", "unable"}
NEGATIONS |= {"impossible", "cannot"}
CONTENT_TAGS = ("NN", "VB", "JJ", "RB", "CD", "FW")
KEPT = 2**15  # words of which is remembered what they are


def content_words(sentence: Tagged) -> list[str]:
    """Nouns, verbs, adjectives and adverbs, lower-cased, without those that say little, and what has digits."""
    return [sentence.words[at].lower() for at in content_places(sentence)]


def content_places(sentence: Tagged) -> list[int]:
    """Where they stand among its words."""
    tagged = zip(sentence.words, sentence.tags, strict=True)
    return [at for at, (word, tag) in enumerate(tagged) if tag.startswith(CONTENT_TAGS) and _tells(word.lower())]


@functools.lru_cache(maxsize=KEPT)
def _tells(word: str) -> bool:
    return word not in LIGHT | NEGATIONS and bool(re.search(r"\w{2}", word)) and not re.search(r"\d", word)


def has_form_of(words: Sequence[str], word: str) -> bool:
    """Whether one of the words is the word, or another form of it: both begin alike."""
    return word in words or any(_same_stem(other, word) for other in words)


def _same_stem(one: str, other: str) -> bool:
    if one[:3] != other[:3]:  # nearly all
        return False
    alike = next((at for at, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), min(len(one), len(other)))
    return alike >= 3 and alike >= min(len(one), len(other)) - 2 and max(len(one), len(other)) - alike <= 4
