"""Whether two texts say the same, by a judge of meaning."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, overload

import numpy as np
from numpy.typing import NDArray

from paraform.capabilities import JudgesMeaning
from paraform.checkpoint.abilities import JUDGE, load_judge, require_able
from paraform.threads import in_threads


@overload
def same(
    pairs: Sequence[tuple[str, str]],
    *,
    model: JudgesMeaning | str = JUDGE,
    device: str | None = None,
    threads: int | None = None,
) -> NDArray[np.float32]: ...
@overload
def same(
    pairs: str,
    other: str,
    *,
    model: JudgesMeaning | str = JUDGE,
    device: str | None = None,
    threads: int | None = None,
) -> float: ...
def same(
    pairs: Sequence[tuple[str, str]] | str,
    other: str | None = None,
    *,
    model: JudgesMeaning | str = JUDGE,
    device: str | None = None,
    threads: int | None = None,
) -> NDArray[np.float32] | float:
    """How likely it is that the two texts of each pair say the same: float32 [N], 0 to 1; of two texts one number.

    Args:
        pairs, other: pairs, or a text and the other.
        model: a judge, its name, or its folder; `paraform.load_judge(model).judge(pairs)` tells both directions apart,
            too.
        device: "cpu", "cuda", …; None: the GPU if there is one.
        threads: that compute on a CPU; None: as before (`paraform.threads`).
    Raises: InputError for what are no pairs of texts, a model that is no judge, or one whose base is not to be had (of
        the usual one `paraform fetch smollm2`).

    >>> paraform.same([("He sold the boat.", "He bought the boat.")])  # doctest: +SKIP
    array([0.001], dtype=float32)
    >>> paraform.same("He sold the boat.", "He bought the boat.")  # doctest: +SKIP
    0.001
    """
    with in_threads(threads):
        judge: JudgesMeaning = load_judge(model, device=device) if isinstance(model, str) else model
        both: Any = pairs if other is None else [(pairs, other)]
        found = require_able(judge, JudgesMeaning, "a judge of meaning").judge(both).same
    return found if other is None else float(found[0])
