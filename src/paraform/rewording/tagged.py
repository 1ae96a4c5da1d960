"""A sentence as words and their tags."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple


class Tagged(NamedTuple):
    """Words of a sentence, case kept, and their tags."""

    words: Sequence[str]
    tags: Sequence[str]

    @property
    def lowered(self) -> list[str]:
        """The words without case."""
        return [word.lower() for word in self.words]
