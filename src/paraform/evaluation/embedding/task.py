"""What a space is measured on: a set of texts with gold labels, and the figures that it gives."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Protocol, TypeVar

from paraform.evaluation.embedding.space import Space
from paraform.evaluation.figures import RowFigure
from paraform.records import InputError
from paraform.score import Score
from paraform.weights import PathLike


@dataclass(frozen=True, eq=False, slots=True)
class Finding:
    """One figure of one space on one set.

    Args:
        score: its `subset` is the set ("STS12"), its `protocol` the way of computing it where there are several.
        figure: the same row by row, so that two spaces are compared by a paired bootstrap; None if it has no rows.
    """

    score: Score
    figure: RowFigure | None = None


class Task(Protocol):
    """A set, read from its files.

    Args:
        name: the set's, as papers print it: "STS12", "MR", "BShift".
        needs_vectors: whether a probe is trained, for which a floor without vectors will not do.
    """

    @property
    def name(self) -> str: ...
    @property
    def needs_vectors(self) -> bool: ...

    def texts(self) -> Sequence[str]:
        """All its texts, to be encoded; they may repeat."""
        ...

    def measure(self, space: Space) -> list[Finding]:
        """The figures of a space that knows these texts."""
        ...


class Named(Protocol):
    """What has a name that figures go by."""

    @property
    def name(self) -> str: ...


Kind = TypeVar("Kind", bound=Named)


def distinct(sets: Iterable[tuple[PathLike, Kind]]) -> list[Kind]:
    """The sets of these files or folders.

    Raises: InputError, naming both, if two sets have one name: their figures could not be told apart.
    """
    found: dict[str, tuple[PathLike, Kind]] = {}
    for path, one in sets:
        if one.name in found:
            both = f"{found[one.name][0]} and of {path}"
            raise InputError(
                f"two sets are called {one.name!r}, of {both}; expected names that differ, of files or of their folders"
            )
        found[one.name] = (path, one)
    return [one for _, one in found.values()]
