"""What is encoded once for several systems, and what is not."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest
from numpy.typing import NDArray

from paraform.evaluation.embedding.measuring import System, spaces_of
from paraform.evaluation.embedding.similarity import SimilaritySet
from paraform.evaluation.embedding.space import Vectors
from paraform.records import Pair, Sentence


@pytest.mark.parametrize(("signature", "shared"), [("", False), ("mine", False), ("model:a|weights:0123", True)])
def test_vectors_are_shared_only_where_the_signature_has_the_weights(signature: str, shared: bool) -> None:
    asked: list[float] = []

    def constant(value: float) -> System:
        def embed(texts: Sequence[str]) -> NDArray[np.float32]:
            asked.append(value)
            return np.full((len(texts), 2), value, np.float32)

        return System(f"all {value}", signature, embed)

    task = SimilaritySet("own", {"": [Pair(Sentence("a"), Sentence("b"), score=1.0)]})
    first, second = spaces_of([task], [constant(1.0), constant(2.0)], words=False)
    assert (first.name, second.name) == ("all 1.0", "all 2.0") and asked == ([1.0] if shared else [1.0, 2.0])
    assert isinstance(first, Vectors) and isinstance(second, Vectors)
    assert first.vectors(["a"]).tolist() == [[1, 1]]
    assert second.vectors(["a"]).tolist() == ([[1, 1]] if shared else [[2, 2]])
