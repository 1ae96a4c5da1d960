"""Rows and their rewordings: a table that has more of the same, every other column copied."""

from __future__ import annotations

import itertools
import json
import unicodedata
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from hashlib import blake2b

from paraform.corpora.tables import Row, require_column
from paraform.records import Origin, Rewording

LINE, SOURCE = "paraform_line", "paraform_source"
MARKS = (LINE, SOURCE)
"""Columns that are added: the line of the row it was made from; its text, "" in a row that was there."""

SAME = "says no more than the row, or another of its rewordings"
ELSEWHERE = "is a text of another label"
ALL_LEFT_OUT = "all of them left out"
SEVERAL = -1

Reword = Callable[[Sequence[str], int], Sequence[Rewording]]
"""Texts, and the number of that call from 0, to what became of each text."""


@dataclass
class Tally:
    """What came of a table.

    Args:
        rows: that were read.
        rewordings: that were made, without those left out.
        without: the rows that got none, by reason.
        left_out: the rewordings left out, by reason.
    """

    rows: int = 0
    rewordings: int = 0
    without: Counter[str] = field(default_factory=Counter)
    left_out: Counter[str] = field(default_factory=Counter)


class Labels:
    """Which label the texts of a table have, so that none is made under two. Of a text 8 bytes of a digest are held.

    Args:
        column: that of the labels.
    """

    def __init__(self, column: str) -> None:
        self.column = column
        self._numbers: dict[str, int] = {}
        self._of: dict[int, int] = {}

    def add(self, text: str, row: Row) -> None:
        """The text has that row's label. Raises: InputError if the row has no such column."""
        key, label = _digest(text), self._label(row)
        self._of[key] = label if self._of.get(key, label) == label else SEVERAL

    def elsewhere(self, text: str, row: Row) -> bool:
        """Whether the text was added under another label than that row's."""
        label = self._label(row)
        return self._of.get(_digest(text), label) != label

    def _label(self, row: Row) -> int:
        require_column(self.column, row.fields, row.origin)
        return self._numbers.setdefault(json.dumps(row.fields[self.column]), len(self._numbers))


class _Bare(dict[int, str]):
    """Letters, marks, digits and symbols as they are, a space for any other character; filled as they come."""

    def __missing__(self, code: int) -> str:
        self[code] = chr(code) if unicodedata.category(chr(code))[0] in "LMNS" else " "
        return self[code]


_BARE = _Bare()


def augmented(
    parts: Iterable[Sequence[Row]],
    reword: Reword,
    text_column: str,
    tally: Tally,
    *,
    per_row: int,
    labels: Labels | None = None,
    keep_source: bool = True,
    mark: bool = True,
) -> Iterator[Row]:
    """Each row, and behind it its rewordings: the same row but for its text.

    A rewording is left out that differs from its row's text, or from another rewording of it, by no more than case,
    punctuation and white space, or that so equals a text or a rewording of another label.

    Args:
        parts: rows, as many together as are to be reworded at once.
        tally: counts, while the rows are drawn.
        per_row: rewordings of a row, at most.
        labels: those of all texts of the table; None: labels are not looked at.
        keep_source: whether the rows themselves are there, too.
        mark: whether the columns `MARKS` are added.
    Raises: InputError for a row that has one of these already.
    """
    for number, part in enumerate(parts):
        found = reword([row.text for row in part], number)
        for row, rewording in zip(part, found, strict=True):
            tally.rows += 1
            if mark:
                require_unmarked(row.fields, row.origin)
            if keep_source:
                yield _marked(row, "") if mark else row
            kept = 0
            for text in itertools.islice(_distinct(row, rewording, labels, tally), per_row):
                kept += 1
                if labels is not None:
                    labels.add(text, row)
                made = Row({**row.fields, text_column: text}, text, row.origin)
                yield _marked(made, str(row.fields[text_column])) if mark else made
            tally.rewordings += kept
            if not kept:
                tally.without[ALL_LEFT_OUT if rewording.candidates else rewording.reason] += 1


def require_unmarked(columns: Iterable[str], origin: Origin) -> None:
    """Raises: InputError if one of the columns is of `MARKS`, which are to be added."""
    if there := sorted({*columns} & {*MARKS}):
        raise origin.error(f"a column {there[0]!r} is there already; expected none, or rows that are not marked")


def plain(text: str) -> str:
    """A text without what does not make it another one: case, punctuation and white space."""
    return " ".join(text.casefold().translate(_BARE).split()) or text.strip()  # of nothing but punctuation, all of it


def _distinct(row: Row, rewording: Rewording, labels: Labels | None, tally: Tally) -> Iterator[str]:
    seen = {plain(row.text)}
    for candidate in rewording.candidates:
        said = plain(candidate.text)
        if said in seen:
            tally.left_out[SAME] += 1
        elif labels is not None and labels.elsewhere(candidate.text, row):
            tally.left_out[ELSEWHERE] += 1
        else:
            seen.add(said)
            yield candidate.text


def _marked(row: Row, source: str) -> Row:
    return Row({**row.fields, LINE: row.origin.line, SOURCE: source}, row.text, row.origin)


def _digest(text: str) -> int:
    return int.from_bytes(blake2b(plain(text).encode(), digest_size=8).digest())
