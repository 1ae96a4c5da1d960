"""A column of texts in other words, a batch of rows at a time, as `map(…, batched=True)` of datasets asks for it.

That library is not imported: a batch is anything that has a list for each column.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeAlias

from paraform.records import InputError, Rewording

Batch: TypeAlias = Mapping[str, Sequence[Any]]
Columns: TypeAlias = dict[str, list[Any]]
Reword: TypeAlias = Callable[[Sequence[Any]], Sequence[Rewording]]


def column_of(batch: Batch, name: str) -> Sequence[Any]:
    """The column of that name. Raises: InputError if there is none."""
    if name not in batch:
        raise InputError(f"no column {name!r}; expected one of {', '.join(map(repr, batch))}")
    return batch[name]


def with_best(reword: Reword, name: str, batch: Batch) -> Columns:
    """Two further columns: each text's best rewording, "" where there is none; and why, "" where there is one.

    Not None: of a first batch without a rewording datasets would keep a column that no text fits into.
    """
    found = reword(column_of(batch, name))
    return {
        f"{name}_reworded": [one.candidates[0].text if one.candidates else "" for one in found],
        f"{name}_reason": [one.reason for one in found],
    }


def with_rows(reword: Reword, name: str, batch: Batch) -> Columns:
    """Each row and, behind it, the same row with each rewording of its text that does more than put words around it."""
    found = reword(column_of(batch, name))
    said = [[one.text for one in of.candidates if not one.wrapped] for of in found]
    out = {
        key: [value for value, row in zip(batch[key], said, strict=True) for _ in range(1 + len(row))] for key in batch
    }
    out[name] = [text for source, row in zip(batch[name], said, strict=True) for text in (source, *row)]
    return out
