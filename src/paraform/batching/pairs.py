"""Pairs of sentences as rows of a table in which each different sentence stands once.

Shape key: M pairs.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np

from paraform.batching.epochs import Rows
from paraform.records import Pair


class Sides(NamedTuple):
    """The different texts of pairs, and the rows [M] of each pair's sides among them."""

    texts: list[str]
    source: Rows
    target: Rows


def sides_of(pairs: Sequence[Pair]) -> Sides:
    """The texts in the order in which they come, the source before the target."""
    row: dict[str, int] = {}
    numbers = [[row.setdefault(side.text, len(row)) for side in (pair.source, pair.target)] for pair in pairs]
    return Sides(list(row), *np.array(numbers, np.int64).reshape(-1, 2).T)


def parts_of_rows(count: int, size: int) -> Iterator[Rows]:
    """The rows 0 to `count`, so many at once, in their order; the last part may have fewer."""
    for start in range(0, count, size):
        yield np.arange(start, min(start + size, count))
