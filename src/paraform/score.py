"""A figure that carries its settings, and tables of such figures."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any, Literal, TypeVar

T = TypeVar("T")

SCREEN = 120  # columns


@dataclass(frozen=True, slots=True)
class Score:
    """A figure with every setting that changes it, as sacreBLEU's signatures do (Post 2018).

    Args:
        name: the field's own, such as `BLEU`.
        value: in the unit that the field prints: BLEU, ROUGE and METEOR in percent, edit distances in tags, the rest
            as fractions or cosines; NaN where the rows have none.
        signature: `setting:value` joined by `|`; see `signature`.
        system: the thing that was measured; "" where only one thing can be.
        protocol: which exemplar the system was given; "" where exemplars play no part.
        subset: the rows it was measured on.
        digits: after the decimal point, when printed.
        low, high: the middle 95 % of the value over resamples of the rows; None: not resampled; NaN: some resamples
            have no value.
    """

    name: str
    value: float
    signature: str
    system: str = ""
    protocol: str = ""
    subset: str = "all"
    digits: int = field(default=2, compare=False)
    low: float | None = None
    high: float | None = None

    @property
    def shown(self) -> str:
        """The value, and its interval if there is one, as a table prints them: `3.71 (3.20 to 4.10)`; NaN is `none`."""
        if math.isnan(self.value):
            return "none"
        value = f"{self.value:.{self.digits}f}"
        if self.low is None or self.high is None:
            return value
        if math.isnan(self.low) or math.isnan(self.high):
            return f"{value} (none)"
        return f"{value} ({self.low:.{self.digits}f} to {self.high:.{self.digits}f})"

    def __str__(self) -> str:
        known = {"system": self.system, "protocol": self.protocol, "subset": self.subset}
        place = "|".join(f"{key}:{value}" for key, value in known.items() if value)
        return f"{self.name}|{place}|{self.signature} = {self.shown}"

    def to_json(self) -> dict[str, str | float]:
        """Name, value, signature, system, protocol and subset, and the interval if there is one, as a JSON object."""
        return {key: value for key, value in asdict(self).items() if key != "digits" and value is not None}


def finite(value: Any) -> Any:
    """What JSON can hold, which has no NaN and no infinity: null in their place."""
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, dict):
        return {key: finite(item) for key, item in value.items()}
    return [finite(item) for item in value] if isinstance(value, (list, tuple)) else value


def signature(**settings: str | int | float | bool | None) -> str:
    """`signature(tok="none", max_tokens=None)` is `tok:none|max_tokens:all`; False is `no`, True is `yes`."""
    words = {None: "all", True: "yes", False: "no"}
    return "|".join(
        f"{key}:{words[value] if value is None or isinstance(value, bool) else value}"
        for key, value in settings.items()
    )


def table(scores: Sequence[Score], style: Literal["plain", "markdown"] = "plain") -> str:
    """One row for each protocol, subset and system, one column for each name; below it each name's signature, of each
    protocol where those differ. A plain table too wide for a screen stands on its side, if it is narrower so.

    Rows and columns stand in the order in which the scores name them first; a cell that no score fills is blank.
    """
    grid, numbers = _grid(scores)
    notes = _notes(scores)
    return _markdown(grid, notes, numbers) if style == "markdown" else _plain(grid, notes, numbers)


def brief_table(scores: Sequence[Score]) -> str:
    """The same rows and columns, plain, and below them one line: the settings that all of these figures share."""
    grid, numbers = _grid(scores)
    settings = [score.signature.split("|") for score in scores]
    shared = [one for one in settings[0] if all(one in others for others in settings)] if settings else []
    return _plain(grid, [("all figures", "|".join(shared))], numbers)


def _grid(scores: Sequence[Score]) -> tuple[list[list[str]], int]:
    """The cells of a table with its header, and how many columns on the right are figures."""
    columns = _first_seen(score.name for score in scores)
    places = _first_seen((score.protocol, score.subset, score.system) for score in scores)
    cells = {(score.protocol, score.subset, score.system, score.name): score.shown for score in scores}
    grid = [["protocol", "rows", "system", *columns]]
    grid += [[*place, *(cells.get((*place, column), "") for column in columns)] for place in places]
    # A column that says nothing is left out: the signature already carries what all rows share.
    kept = [at for at in range(len(grid[0])) if at > 2 or any(row[at] not in ("", "all") for row in grid[1:])]
    return [[row[at] for at in kept] for row in grid], len(columns)


def _notes(scores: Sequence[Score]) -> list[tuple[str, str]]:
    protocols: dict[tuple[str, str], list[str]] = {}
    for score in scores:
        protocols.setdefault((score.name, score.signature), []).append(score.protocol)
    several = {name for name, count in Counter(name for name, _ in protocols).items() if count > 1}
    return [
        (f"{name} ({', '.join(_first_seen(found))})" if name in several and any(found) else name, settings)
        for (name, settings), found in protocols.items()
    ]


def _plain(grid: list[list[str]], notes: list[tuple[str, str]], numbers: int) -> str:
    lines = _aligned(grid, len(grid[0]) - numbers)
    if max(map(len, lines)) > SCREEN:
        turned = _aligned([list(column) for column in zip(*grid, strict=True)], 1)
        lines = min(lines, turned, key=lambda some: max(map(len, some)))
    return "\n".join([*lines, "", *(f"{name}: {settings}" for name, settings in notes)])


def _aligned(grid: list[list[str]], words: int) -> list[str]:
    """The rows, their first so many columns flush left, the others flush right."""
    widths = [max(len(row[at]) for row in grid) for at in range(len(grid[0]))]
    return [
        "  ".join(
            cell.ljust(width) if at < words else cell.rjust(width)
            for at, (cell, width) in enumerate(zip(row, widths, strict=True))
        ).rstrip()
        for row in grid
    ]


def _markdown(grid: list[list[str]], notes: list[tuple[str, str]], numbers: int) -> str:
    header, *rows = [[cell.replace("|", "\\|") for cell in row] for row in grid]
    rule = ["---"] * (len(header) - numbers) + ["---:"] * numbers
    lines = [f"| {' | '.join(row)} |" for row in (header, rule, *rows)]
    return "\n".join([*lines, "", *(f"- {name}: `{settings}`" for name, settings in notes)])


def _first_seen(values: Iterable[T]) -> list[T]:
    return list(dict.fromkeys(values))
