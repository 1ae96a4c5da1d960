"""Whether two texts say the same: the embedded judge, or another, loaded once."""

from __future__ import annotations

import functools
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from paraform import checkpoint
from paraform.capabilities import JudgesMeaning
from paraform.records import InputError

JUDGE = "judge"


def same(
    pairs: Sequence[tuple[str, str]], *, model: JudgesMeaning | str = JUDGE, device: str | None = None
) -> NDArray[np.float32]:
    """How likely it is that the two texts of each pair say the same: float32 [N], 0 to 1.

    Args:
        model: a judge, or its name; `paraform.load(name).judge(pairs)` tells both directions apart, too.
        device: "cpu", "cuda", …; None: the GPU if there is one.
    Raises: InputError for what are no pairs of texts, or a model that is no judge.

    >>> paraform.same([("He sold the boat.", "He bought the boat.")])  # doctest: +SKIP
    array([0.02], dtype=float32)
    """
    judge = judge_named(model, device) if isinstance(model, str) else model
    return judge.judge(pairs).same


@functools.lru_cache(maxsize=2)
def judge_named(name: str = JUDGE, device: str | None = None) -> JudgesMeaning:
    """The judge of that name. Raises: InputError if there is none, or it is another model."""
    model = checkpoint.load(name, device=device)
    if not isinstance(model, JudgesMeaning):
        raise InputError(f"{name}: {model.kind}; expected a judge of meaning")
    return model
