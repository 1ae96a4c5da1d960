"""The rank of each target among all, against a loop."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest
from numpy.typing import NDArray

from paraform.records import Pair, Sentence
from paraform.trainers import reciprocal_rank


@pytest.mark.parametrize("at_once", [3, 100])
def test_by_a_loop(at_once: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Others of a pair's own cluster do not count; what is as near stands before the target."""
    monkeypatch.setattr(reciprocal_rank, "AT_ONCE", at_once)
    drawn = np.random.default_rng(0).integers(-1, 2, (20, 2, 3)).astype(np.float32)  # with ties
    pairs = [Pair(Sentence(f"{n}a"), Sentence(f"{n}b"), cluster=n // 2) for n in range(20)]
    vectors = {text: drawn[n, side] for n in range(20) for side, text in enumerate((f"{n}a", f"{n}b"))}

    def embed(texts: Sequence[str]) -> NDArray[np.float32]:
        return np.stack([vectors[text] for text in texts])

    inverse = []
    for n in range(20):
        own = float(drawn[n, 0] @ drawn[n, 1])
        others = [m for m in range(20) if m // 2 != n // 2]
        inverse.append(1 / (1 + sum(float(drawn[n, 0] @ drawn[m, 1]) >= own for m in others)))
    assert reciprocal_rank.mean_reciprocal_rank(embed, pairs) == pytest.approx(np.mean(inverse))
