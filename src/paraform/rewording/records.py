"""Rewordings: what a model says in the place of a text, and why it says nothing."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Candidate:
    """One rewording of a text.

    Args:
        text: the rewording.
        exemplar: whose form it has: a sentence, or a frame such as "is it possible to …?".
        checks: by name: 1.0 for one that it passed, 0.0 for one that it failed; and figures, such as "content".
        score: by which candidates are ordered; more is better.
    """

    text: str
    exemplar: str
    checks: Mapping[str, float]
    score: float

    def to_json(self) -> dict[str, Any]:
        """A JSON object, figures rounded."""
        checks = {name: round(value, 4) for name, value in self.checks.items()}
        return {
            "paraphrase": self.text,
            "exemplar": self.exemplar,
            "content": checks.get("content"),
            "score": round(self.score, 4),
            "checks": checks,
        }


@dataclass(frozen=True)
class Rewording:
    """What became of a text.

    Args:
        candidates: those that passed every check, best first; () if none did.
        reason: why there is none; "" if there is one.
    """

    source: str
    candidates: tuple[Candidate, ...]
    reason: str = ""
