"""Sentence vectors as a step of scikit-learn's pipelines."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Self, final

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin

from paraform.integrations.loaded import embedder


@final
class ParaformVectors(ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):
    """Texts to vectors, without fitting: `make_pipeline(ParaformVectors(), LogisticRegression())`.

    A pickle of it holds no weights: the model is loaded by its name where it is read.

    Args:
        model: as `paraform.load` takes it: "minilm", "compact@vectors=style", a folder.
        device: "cpu", "cuda", …; None: the GPU if there is one.
    """

    def __init__(self, model: str = "minilm", device: str | None = None) -> None:
        self.model, self.device = model, device

    def fit(self, X: Sequence[str], y: Any = None) -> Self:
        """Nothing is learnt. Raises: InputError if the model is not there, or has no vectors."""
        embedder(self.model, self.device)
        return self

    def transform(self, X: Sequence[str]) -> NDArray[np.float32]:
        """One row a text. Raises: InputError for what are no texts."""
        return embedder(self.model, self.device).embed(X)

    @property
    def _n_features_out(self) -> int:
        return int(embedder(self.model, self.device).embed(["a"]).shape[1])

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.string, tags.input_tags.two_d_array = True, False
        tags.requires_fit = False
        return tags
