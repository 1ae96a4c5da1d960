"""Columns for Hugging Face's datasets: `dataset.map(vectors("minilm", "text"), batched=True)`.

What is given to `map` is a function and its settings, so that `num_proc` may send it and caches know it again; models
are loaded by the process that asks them. Rewordings are `paraform.reworder().column("text")`.
"""

from __future__ import annotations

import functools
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from paraform.checkpoint import signature_of
from paraform.checkpoint.abilities import JUDGE
from paraform.checkpoint.folder import checkpoint_digest
from paraform.integrations.loaded import embedder, judge
from paraform.rewording.column import Batch, column_of
from paraform.version import __version__

Arrays = dict[str, NDArray[np.float32]]


def vectors(model: str, column: str, *, device: str | None = None) -> Callable[[Batch], Arrays]:
    """Texts' vectors beside them: of NAME the column NAME_vector, float32.

    Args:
        model: as `paraform.load` takes it, "compact@vectors=style", too.
        device: "cpu", "cuda", …; None: the GPU if there is one.
    Raises: InputError if the model has no vectors.
    """
    told = f"{signature_of(embedder(model, device), model)} {__version__}"
    return functools.partial(_with_vectors, told, model, device, column)


def same(first: str, second: str, *, model: str = JUDGE, device: str | None = None) -> Callable[[Batch], Arrays]:
    """What a judge thinks of two columns' texts: the columns same, forth and back, as `capabilities.Verdicts` has them.

    Args:
        first, second: the columns' names.
        model, device: as `paraform.same` has them; the model by name.
    Raises: InputError if the model is no judge.
    """
    judge(model, device)
    told = f"{checkpoint_digest(model)} {__version__}"
    return functools.partial(_judged, told, model, device, first, second)


def _with_vectors(told: str, model: str, device: str | None, column: str, batch: Batch) -> Arrays:
    """The vectors; `told` is for caches alone: another version of the model gives others."""
    return {f"{column}_vector": embedder(model, device).embed(column_of(batch, column))}


def _judged(told: str, model: str, device: str | None, first: str, second: str, batch: Batch) -> Arrays:
    pairs = list(zip(column_of(batch, first), column_of(batch, second), strict=True))
    return dict(judge(model, device).judge(pairs)._asdict())
