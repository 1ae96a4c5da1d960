"""Whether two texts say the same, by a judge of meaning."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from paraform import checkpoint
from paraform.capabilities import JudgesMeaning
from paraform.records import InputError

MODEL = "smollm2-judge"


def same(
    pairs: Sequence[tuple[str, str]], *, model: JudgesMeaning | str = MODEL, device: str | None = None
) -> NDArray[np.float32]:
    """How likely it is that the two texts of each pair say the same: float32 [N], 0 to 1.

    Args:
        model: a judge, its name, or its folder; `paraform.load(model).judge(pairs)` tells both directions apart, too.
        device: "cpu", "cuda", …; None: the GPU if there is one.
    Raises: InputError for what are no pairs of texts, a model that is no judge, or one whose base is not to be had (of
        the usual one `paraform fetch smollm2`).

    >>> paraform.same([("He sold the boat.", "He bought the boat.")])  # doctest: +SKIP
    array([0.001], dtype=float32)
    """
    judge = checkpoint.load(model, device=device) if isinstance(model, str) else model
    if not isinstance(judge, JudgesMeaning):
        raise InputError(f"{getattr(judge, 'kind', type(judge).__name__)}; expected a judge of meaning")
    return judge.judge(pairs).same
