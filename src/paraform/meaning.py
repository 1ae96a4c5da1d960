"""Whether two texts say the same, by a judge of meaning."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from paraform import checkpoint
from paraform.capabilities import JudgesMeaning
from paraform.records import InputError


def same(
    pairs: Sequence[tuple[str, str]], *, model: JudgesMeaning | str, device: str | None = None
) -> NDArray[np.float32]:
    """How likely it is that the two texts of each pair say the same: float32 [N], 0 to 1.

    Args:
        model: a judge, or the folder of one; `paraform.load(folder).judge(pairs)` tells both directions apart, too.
        device: "cpu", "cuda", …; None: the GPU if there is one.
    Raises: InputError for what are no pairs of texts, or a model that is no judge.

    >>> paraform.same([("He sold the boat.", "He bought the boat.")], model="runs/mine")  # doctest: +SKIP
    array([0.02], dtype=float32)
    """
    judge = checkpoint.load(model, device=device) if isinstance(model, str) else model
    if not isinstance(judge, JudgesMeaning):
        raise InputError(f"{getattr(judge, 'kind', type(judge).__name__)}; expected a judge of meaning")
    return judge.judge(pairs).same
