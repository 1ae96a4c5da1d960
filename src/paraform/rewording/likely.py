"""What a language model's likelihoods tell of an answer: whether its source can be read off it, and it off its source.

A content word that only one of the two has is likely given the other if it says what stands there: "remnants" where
"ruins" stood. "Saturday" is not, where "Sunday" did.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from paraform.rewording.asking import AMOUNTS
from paraform.rewording.content import content_places, has_form_of
from paraform.rewording.tagged import Tagged

SAID = ("forth", "back", "added", "dropped", "small", "more", "fewer")
_SMALL_TAGS = ("IN", "TO", "RP", "MD", "CC", "PDT")
_FREE = {"of", "that", "if", "whether"}  # which come and go with the form of a clause


def said_figures(
    source: Tagged, output: Tagged, forth: NDArray[np.float32], back: NDArray[np.float32]
) -> dict[str, float]:
    """Figures of an answer, higher is better.

    Args:
        forth: ln p(output | source) as shares of the output's characters; behind the last that of its end.
        back: ln p(source | output) likewise.
    Returns: `forth` and `back`, the means of a word, nats; `added`, of content words that the source has not (in any
        form, nouns in theirs) the least likely one's, given the source, 0 where there is none; `dropped`, the same of
        the source's words that the output has not, given the output; `small`, the same of prepositions, modal verbs,
        "all" and the like, either way; `more` and `fewer`, how many more content words are added than dropped, and how
        many fewer, 0 or below.
    """
    added = _lacking(output, source, forth, content_places(output))
    dropped = _lacking(source, output, back, content_places(source))
    small = _lacking(output, source, forth, _small(output)) + _lacking(source, output, back, _small(source))
    return {
        "forth": float(forth.sum()) / (len(output.words) + 1),
        "back": float(back.sum()) / (len(source.words) + 1),
        "added": min(added, default=0.0),
        "dropped": min(dropped, default=0.0),
        "small": min(small, default=0.0),
        "more": float(min(0, len(dropped) - len(added))),
        "fewer": float(min(0, len(added) - len(dropped))),
    }


def _lacking(one: Tagged, other: Tagged, shares: NDArray[np.float32], places: Sequence[int]) -> list[float]:
    """ln p of each word at these places of the one that the other has not, with the blank before it."""
    spans = one.cut.spans if one.cut is not None else ()
    return [
        float(shares[(spans[at - 1][1] if at else 0) : spans[at][1]].sum())
        for at in (places if spans else ())
        if not _has(other, one.words[at].lower(), noun=one.tags[at].startswith("NN"))
    ]


def _has(sentence: Tagged, word: str, *, noun: bool) -> bool:
    """Whether it has the word, in any form unless it is a noun: one prince is not princes."""
    return word in sentence.lowered if noun else has_form_of(sentence.lowered, word)


def _small(sentence: Tagged) -> list[int]:
    words, tags = sentence.lowered, [*sentence.tags, ""]
    return [
        at
        for at, word in enumerate(words)
        if word not in _FREE
        and (tags[at] in _SMALL_TAGS or word in AMOUNTS)
        and not (word == "to" and tags[at + 1].startswith("VB"))
    ]
