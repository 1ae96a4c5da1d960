"""What a model has learnt by heart: the training sentence that is nearest to each sample."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from rapidfuzz import process
from rapidfuzz.distance import Levenshtein

from paraform.records import InputError


class Neighbour(NamedTuple):
    """The nearest training sentence, and 1 − edits / words of the longer one: 1 is the same words."""

    text: str
    similarity: float


def nearest_sentences(
    texts: Sequence[str], training: Sequence[str], words: Callable[[str], Sequence[str]] = str.split
) -> list[Neighbour]:
    """Of each text the nearest of the training sentences, by edits of lower-cased words; the first of several.

    Args:
        words: a text's words; a model's own, if spaces in the training text are not where the model writes them.
    Raises: InputError if there are no training sentences.
    """
    if not training:
        raise InputError("0 training sentences; expected at least one to compare with")
    known = [[word.lower() for word in words(text)] for text in training]
    out = []
    for text in texts:
        own = [word.lower() for word in words(text)]
        found = process.extractOne(own, known, scorer=Levenshtein.normalized_similarity)
        out.append(Neighbour(training[found[2]], float(found[1])))
    return out
