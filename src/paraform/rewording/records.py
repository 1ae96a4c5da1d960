"""Rewordings: what a model says in the place of a text, and why it says nothing."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class Candidate:
    """One rewording of a text.

    Args:
        text: the rewording.
        exemplar: whose form it has: a sentence, or a frame such as "is it possible to … ?".
        checks: by name, whether it passed.
        score: by which candidates are ordered; more is better.
        figures: by name: `content`, the cosine to the source; `grammar` and `words`, nats a word that its tags and its
            words are likelier than the source's; `edits`, words.
        framed: whether it comes from a frame or a synonym, and not from a decoder.
    """

    text: str
    exemplar: str
    checks: Mapping[str, bool]
    score: float
    figures: Mapping[str, float] = field(default_factory=dict)
    framed: bool = False

    @property
    def failed(self) -> list[str]:
        """The checks that it did not pass."""
        return [name for name, passed in self.checks.items() if not passed]

    def to_json(self) -> dict[str, Any]:
        """A JSON object, figures rounded."""
        figures = {name: round(value, 4) for name, value in self.figures.items()}
        return {
            "paraphrase": self.text,
            "exemplar": self.exemplar or None,
            "content": figures.get("content"),
            "score": round(self.score, 4),
            "checks": dict(self.checks),
            "figures": figures,
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
