"""A space of vectors, against cosines worked out by hand."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest
from numpy.typing import NDArray

from paraform.evaluation.embedding.space import VectorSpace, embedded
from paraform.records import InputError

POINTS = {"east": (2.0, 0.0), "north": (0.0, 0.5), "northeast": (3.0, 3.0), "nowhere": (0.0, 0.0)}


@pytest.mark.parametrize("scale", [1.0, 1e-30, 1e30])  # of which squares are nothing, and infinity, in float32
def test_cosines_whatever_the_lengths(scale: float) -> None:
    asked: list[str] = []

    def embed(texts: Sequence[str]) -> NDArray[np.float32]:
        asked.extend(texts)
        return np.array([POINTS[text] for text in texts], np.float32) * np.float32(scale)

    space = embedded(embed, [*POINTS, "east"], name="compass", signature="points:4")
    assert asked == list(POINTS)
    assert isinstance(space, VectorSpace)
    half = 0.5**0.5
    found = space.similarity(["east", "east", "northeast", "nowhere"], ["north", "east", "north", "east"])
    assert found == pytest.approx([0, 1, half, 0])
    assert space.block(["northeast", "nowhere"], ["east", "north"]) == pytest.approx(np.array([[half, half], [0, 0]]))
    assert space.vectors(["northeast", "east"]) == pytest.approx(np.array([[3, 3], [2, 0]]) * np.float32(scale))


@pytest.mark.parametrize("wrong", [np.zeros((1, 2), np.float32), np.array([[1.0, np.nan], [0, 1]], np.float32)])
def test_what_embed_must_give(wrong: NDArray[np.float32]) -> None:
    with pytest.raises(InputError, match=r"^mine: embed gave"):
        embedded(lambda texts: wrong, ["a", "b"], name="mine", signature="")
