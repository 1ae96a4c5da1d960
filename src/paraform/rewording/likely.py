"""What a language model's likelihoods tell of an answer: whether its source can be read off it, and it off its source.

A content word that only one of the two has is likely given the other if it says what stands there: "remnants" where
"ruins" stood. "Saturday" is not, where "Sunday" did.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from paraform.rewording.checks import content_places, has_form_of
from paraform.rewording.tagged import Tagged

SAID = ("forth", "back", "added", "dropped", "more", "fewer")


def said_figures(
    source: Tagged, output: Tagged, forth: NDArray[np.float32], back: NDArray[np.float32]
) -> dict[str, float]:
    """Figures of an answer, higher is better.

    Args:
        forth: ln p(output | source) as shares of the output's characters; behind the last that of its end.
        back: ln p(source | output) likewise.
    Returns: `forth` and `back`, the means of a word, nats; `added`, of content words that the source has not in any
        form the least likely one's, given the source, and `dropped`, of those of the source that the output has not
        the least likely one's, given the output, 0 where there is none; `more` and `fewer`, how many more words are
        added than dropped, and how many fewer, 0 or below.
    """
    added, dropped = _lacking(output, source, forth), _lacking(source, output, back)
    return {
        "forth": float(forth.sum()) / (len(output.words) + 1),
        "back": float(back.sum()) / (len(source.words) + 1),
        "added": min(added, default=0.0),
        "dropped": min(dropped, default=0.0),
        "more": float(min(0, len(dropped) - len(added))),
        "fewer": float(min(0, len(added) - len(dropped))),
    }


def _lacking(one: Tagged, other: Tagged, shares: NDArray[np.float32]) -> list[float]:
    """ln p of each content word of the one that the other has not, with the blank before it."""
    spans = one.cut.spans if one.cut is not None else ()
    return [
        float(shares[(spans[at - 1][1] if at else 0) : spans[at][1]].sum())
        for at in (content_places(one) if spans else ())
        if not has_form_of(other.lowered, one.words[at].lower())
    ]
