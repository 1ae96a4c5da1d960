"""What a loaded `ExemplarParaphraser` could do before `paraform.reword` did it; this file goes with the next version.

Models do not know of rewording, which stands right of them, so that it is here, where both are known, that their class
gets the two methods back.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any

from paraform.records import Candidate, Rewording


def add_methods(system: Any) -> None:
    """Give the class `reword` and `assess`."""
    system.reword, system.assess = _reword, _assess


def _reword(self: Any, sources: Sequence[str], *, num: int = 1, force: bool = False, **how: Any) -> list[Rewording]:
    """Deprecated: `paraform.reword(texts, model="rules")`, which is what this does; the model gives no candidates."""
    from paraform.rewording.reworder import Reworder

    _warn("reword", 'paraform.reword(texts, model="rules")')
    if (ration := how.pop("ration", None)) is not None:  # as it was called then
        how["constrain_repetition"] = ration
    return Reworder.default(str(self.device)).reword(sources, num=num, force=force, **how)


def _assess(self: Any, sources: Sequence[str], outputs: Sequence[str], exemplars: Sequence[str]) -> list[Candidate]:
    """Deprecated: `paraform.Reworder.default(paraphraser=model).assess`, which is what this does."""
    from paraform.rewording.reworder import Reworder

    _warn("assess", "paraform.Reworder.default(paraphraser=model).assess (and paraform.reword for a model's reword)")
    return Reworder.default(paraphraser=self).assess(sources, outputs, exemplars)


def _warn(method: str, instead: str) -> None:
    said = f"a model's {method} goes with the next version; use {instead}"
    warnings.warn(said, DeprecationWarning, stacklevel=3)
