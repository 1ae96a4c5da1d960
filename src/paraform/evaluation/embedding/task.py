"""What a space is measured on: sets of texts with gold labels, and the families of sets that a folder may hold."""

from __future__ import annotations

import shlex
from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple, Protocol, Self, TypeVar

from paraform.evaluation.embedding.space import Space
from paraform.evaluation.metrics import RowMetric
from paraform.records import InputError
from paraform.score import Score
from paraform.syntax.running import DEFAULT
from paraform.weights import PathLike

Row = TypeVar("Row")


@dataclass(frozen=True, eq=False, slots=True)
class Finding:
    """One metric of one space on one set.

    Args:
        score: its `subset` is the set ("STS12"), its `protocol` the way of computing it where there are several.
        metric: the same row by row, so that two spaces are compared by a paired bootstrap; None if it has no rows.
        reference: whether no space has a part in it, such as the commonest label's accuracy.
    """

    score: Score
    metric: RowMetric | None = None
    reference: bool = False


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
        """The metrics of a space that knows these texts."""
        ...

    def limited(self, most: int) -> Self:
        """The task with so many rows at most, to see whether all goes well; its metrics say little.

        So many of each part, and of each label, where a probe or a threshold is trained; of retrieval so many queries.
        """
        ...


@dataclass(frozen=True, slots=True)
class Choices:
    """What may be chosen of how sets are read; each family takes what it knows of.

    Args:
        size: the most paraphrases, and the most other pairs, of a set of robustness.
        parser: a name that `load_parser` knows, by whose trees the halves of robustness are told apart.
        seed: the seed of every draw.
        progress: say on stderr how far it is while sentences are parsed.
        tagger: of style retrieval.
        trained: with similarity by a trained regression, where STS-B or SICK have their training parts.
    """

    size: int = 1000
    parser: str = DEFAULT
    seed: int = 0
    progress: bool = False
    tagger: str = DEFAULT
    trained: bool = True

    def typed(self, *names: str) -> str:
        """Those of these names that are not as a command has them by itself: `typed("size")` → " --size 300"."""
        usual = Choices()
        chosen = {name: getattr(self, name) for name in names if getattr(self, name) != getattr(usual, name)}
        return "".join(f" --{name} {shlex.quote(str(value))}" for name, value in chosen.items())


class Headline(NamedTuple):
    """A metric whose table is shown at once; those of others are folded.

    Args:
        references: metrics that no space has a part in, which stand below it.
        lower: whether less of it is better.
    """

    name: str
    references: tuple[str, ...] = ()
    protocol: str = ""
    lower: bool = False


@dataclass(frozen=True, eq=False, kw_only=True, slots=True)
class Family:
    """Sets of one kind: where they are found, how they are read, and what a report says of them.

    A new one needs a module with its task and `FAMILIES`, and a line in `families.FAMILIES`; one of your own, none:
    `read_families(folder, [mine])`.

    Args:
        name: "similarity".
        title, about: of its part of a page.
        headlines: the tables that are shown at once.
        expected: the files that `find` looks for, in words.
        find: a folder → the folder or file in it that the sets are read from; None: there is none.
        read: that place → the sets; two families that have one `read` are read once.
        kind: the class of those of these that are its own.
        command: that measures the same by itself, "evaluate similarity"; "": the report alone does.
        options: by which that command gives the same scores, as they are typed.
        side_by_side: whether the command takes several models at once.
        resampled: whether it takes --resamples.
        means: what is made of the findings of several sets.
        counts: which summary a score counts for: meaning, form, hard or paws; "": none.
    """

    name: str
    title: str
    about: str
    headlines: tuple[Headline, ...]
    expected: str
    find: Callable[[Path], Path | None]
    read: Callable[[Path, Choices], Sequence[Task]]
    kind: type[Any] = object
    command: str = ""
    options: Callable[[Sequence[Task], Choices], str] = lambda tasks, choices: ""
    side_by_side: bool = True
    resampled: bool = True
    means: Callable[[Sequence[Finding]], list[Finding]] = lambda findings: []
    counts: Callable[[Score], str] = lambda score: ""


class Named(Protocol):
    """What has a name that scores go by."""

    @property
    def name(self) -> str: ...


class Signed(Named, Protocol):
    """What is measured: it has a signature, too."""

    @property
    def signature(self) -> str: ...


Kind = TypeVar("Kind", bound=Named)


def signed_finding(metric: RowMetric, system: Signed, subset: str, protocol: str = "") -> Finding:
    """A metric of a system, whose score says both's settings."""
    score = metric.score(system=system.name, protocol=protocol, subset=subset)
    return Finding(replace(score, signature=f"{metric.signature}|{system.signature}"), metric)


def distinct(sets: Iterable[tuple[PathLike, Kind]]) -> list[Kind]:
    """The sets of these files or folders.

    Raises: InputError, naming both, if two sets have one name: their metrics could not be told apart.
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


def first_of_each(rows: Sequence[Row], most: int, group: Callable[[Row], Hashable]) -> list[Row]:
    """So many rows of each group, in order."""
    counts: Counter[Hashable] = Counter()
    kept = []
    for row in rows:
        counts[group(row)] += 1
        if counts[group(row)] <= most:
            kept.append(row)
    return kept


def holding(folder: Path, *patterns: str) -> Path | None:
    """The folder, if a file of one of these patterns is anywhere below it."""
    return folder if any(next(folder.rglob(pattern), None) for pattern in patterns) else None
