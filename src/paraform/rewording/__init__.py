"""Rewordings: what a model says in the place of a text, and why it says nothing."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True)
class Candidate:
    """One rewording of a text.

    Args:
        text: the rewording.
        exemplar: whose form it has.
        checks: the figures that it was checked by, by name.
        score: by which candidates are ordered; more is better.
    """

    text: str
    exemplar: str
    checks: Mapping[str, float]
    score: float


@dataclass(frozen=True)
class Rewording:
    """What became of a text.

    Args:
        candidates: those that passed every check, best first; () if none did.
        reason: why there is none; "" if there is one.
    """

    source: str
    candidates: tuple[Candidate, ...]
    reason: str
