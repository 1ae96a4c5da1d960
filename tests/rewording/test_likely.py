"""What likelihoods tell of an answer, by hand."""

from __future__ import annotations

import numpy as np
import pytest

from paraform.rewording.likely import said_figures
from paraform.rewording.tagged import Tagged
from paraform.spans import cut


def sentence(text: str, tags: str) -> Tagged:
    found = cut(text)
    return Tagged(found.words, tags.split(), found)


def test_words_that_only_one_has() -> None:
    """Each character is a nat less likely than the last: a word is the sum of its own and the blank before it."""
    source = sentence("The old ruins fell.", "DT JJ NNS VBD .")
    output = sentence("The ancient ruins collapsed quickly.", "DT JJ NNS VBD RB .")
    forth = -np.arange(len("The ancient ruins collapsed quickly.") + 1, dtype=np.float32)
    back = -np.arange(len("The old ruins fell.") + 1, dtype=np.float32) / 10
    found = said_figures(source, output, forth, back)
    assert found == pytest.approx(
        {
            "forth": forth.sum() / 7,
            "back": back.sum() / 6,
            "added": -sum(range(27, 35)) - 0,
            "dropped": -sum(range(13, 18)) / 10,
            "small": 0,
            "more": -1,
            "fewer": 0,
        }
    )
    same = said_figures(source, source, back, back)
    assert (same["added"], same["dropped"], same["more"], same["fewer"]) == (0, 0, 0, 0)
    assert said_figures(output, source, back, forth)["fewer"] == -1


def test_small_words_count_either_way() -> None:
    one, other = (
        sentence("It is due before noon.", "PRP VBZ JJ IN NN ."),
        sentence("It is due at noon.", "PRP VBZ JJ IN NN ."),
    )
    flat = [-np.ones(len(text) + 1, np.float32) for text in ("It is due before noon.", "It is due at noon.")]
    assert said_figures(one, other, flat[1], flat[0])["small"] == -len(" before")
    assert said_figures(other, one, flat[0], flat[1])["small"] == -len(" before")
