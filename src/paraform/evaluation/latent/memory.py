"""What a model has learnt by heart: the training sentence that is nearest to each sample."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from rapidfuzz import process
from rapidfuzz.distance import Levenshtein


class Neighbour(NamedTuple):
    """The nearest training sentence, and 1 − edits / words of the longer one: 1 is the same words."""

    text: str
    similarity: float


def nearest_sentences(texts: Sequence[str], training: Sequence[str]) -> list[Neighbour]:
    """Of each text the nearest of the training sentences, by edits of lower-cased words; the first of several.

    Raises: ValueError if there are no training sentences.
    """
    if not training:
        raise ValueError("0 training sentences; expected at least one to compare with")
    known = [text.lower().split() for text in training]
    out = []
    for text in texts:
        found = process.extractOne(text.lower().split(), known, scorer=Levenshtein.normalized_similarity)
        out.append(Neighbour(training[found[2]], float(found[1])))
    return out
