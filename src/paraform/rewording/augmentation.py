"""Rows and their rewordings: a table that has more of the same, every other column copied."""

from __future__ import annotations

import itertools
import json
import unicodedata
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from hashlib import blake2b

from paraform.corpora.table_lines import changed
from paraform.corpora.tables import Row, Table, Value, require_column
from paraform.records import Origin, Rewording

LINE, SOURCE = "paraform_line", "paraform_source"
MARKS = (LINE, SOURCE)
"""Columns that are added: the line of the row it was made from; its text, "" in a row that was there."""

SAME = "says no more than the row, or another of its rewordings"
ELSEWHERE = "is a text of another label"
REPEATED = "is a text of another row"
NO_SPAN = "has not once what the span columns say"
WRAPPED = "only puts words around the row"
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


class Texts:
    """The texts of a table and their labels, so that none is made twice, or under two. Of each 8 bytes of a digest are
    held, which take 90 here.

    Args:
        column: that of the labels; None: there are none.
    """

    def __init__(self, column: str | None = None) -> None:
        self.column = column
        self._numbers: dict[str, int] = {}
        self._of: dict[int, int] = {}

    def add(self, text: str, row: Row) -> None:
        """The text has that row's label. Raises: InputError if the row has no such column."""
        key, label = _digest(text), self._label(row)
        self._of[key] = label if self._of.get(key, label) == label else SEVERAL

    def taken(self, text: str, row: Row) -> str:
        """Why a text that was made of the row cannot be another row: as what it is there already; "" if it is not."""
        label = self._of.get(_digest(text))
        if label is None:
            return ""
        return REPEATED if label == self._label(row) else ELSEWHERE

    def _label(self, row: Row) -> int:
        if self.column is None:
            return 0
        require_column(self.column, row.fields, row.origin)
        return self._numbers.setdefault(json.dumps(row.fields[self.column], default=str), len(self._numbers))


class _Bare(dict[int, str]):
    """Letters, marks, digits and symbols as they are, a space for any other character; filled as they come."""

    def __missing__(self, code: int) -> str:
        self[code] = chr(code) if unicodedata.category(chr(code))[0] in "LMNS" else " "
        return self[code]


_BARE = _Bare()


def augmented(
    parts: Iterable[Sequence[Row]],
    reword: Reword,
    table: Table,
    tally: Tally,
    *,
    per_row: int,
    texts: Texts | None = None,
    spans: tuple[str, str] | None = None,
    keep_source: bool = True,
    mark: bool = True,
    wrapped: bool = False,
) -> Iterator[Row]:
    """Each row, and behind it its rewordings: the same row but for its text.

    A rewording is left out that differs from its row's text, or from another rewording of it, by no more than case,
    punctuation and white space, or that so equals a text or a rewording of another row.

    Args:
        parts: rows, as many together as are to be reworded at once.
        table: what the rows are read from.
        tally: counts, while the rows are drawn.
        per_row: rewordings of a row, at most.
        texts: all of the table, with their labels; None: those that have come.
        spans: columns that say where a part of the text begins and ends, in characters: they move with that part.
        keep_source: whether the rows themselves are there, too.
        mark: whether the columns `MARKS` are added.
        wrapped: whether rewordings count that only put words around a text ("Can you tell me …").
    Raises: InputError for a row that has one of these already.
    """
    texts = texts or Texts()
    for number, part in enumerate(parts):
        for row in part:
            texts.add(row.text, row)
        found = reword([str(row.fields[table.text_column]) for row in part], number)
        for row, rewording in zip(part, found, strict=True):
            tally.rows += 1
            if mark:
                require_unmarked(row.fields, row.origin)
            if keep_source:
                yield _marked(row, "") if mark else row
            kept = 0
            source = str(row.fields[table.text_column])
            told = _distinct(row, rewording, texts, tally, wrapped=wrapped)
            for text, moved in itertools.islice(_moved(row, source, told, tally, spans), per_row):
                kept += 1
                texts.add(text, row)
                made = replace(changed(row, {table.text_column: text, **moved}, table.dialect), text=text)
                yield _marked(made, source) if mark else made
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


def _distinct(row: Row, rewording: Rewording, texts: Texts, tally: Tally, *, wrapped: bool) -> Iterator[str]:
    seen = {plain(row.text)}
    for candidate in rewording.candidates:
        said = plain(candidate.text)
        if candidate.wrapped and not wrapped:
            tally.left_out[WRAPPED] += 1
        elif said in seen:
            tally.left_out[SAME] += 1
        elif reason := texts.taken(candidate.text, row):
            tally.left_out[reason] += 1
        else:
            seen.add(said)
            yield candidate.text


def _moved(
    row: Row, source: str, told: Iterable[str], tally: Tally, spans: tuple[str, str] | None
) -> Iterator[tuple[str, dict[str, Value]]]:
    """Texts for a row, and where its span is in each; those in which it is not once are left out."""
    for text in told:
        if spans is None:
            yield text, {}
            continue
        part = span_of(row, source, spans)
        if part and text.count(part) == 1 == source.count(part):
            start = text.index(part)
            numbers = start, start + len(part)
            as_text = isinstance(row.fields[spans[0]], str)
            yield text, {name: str(at) if as_text else at for name, at in zip(spans, numbers, strict=True)}
        else:
            tally.left_out[NO_SPAN] += 1


def span_of(row: Row, source: str, spans: tuple[str, str]) -> str:
    """The part of the text that two columns say; "" if they say none."""
    try:
        start, end = (int(str(row.fields.get(name))) for name in spans)
    except ValueError:
        return ""
    return source[start:end] if 0 <= start < end <= len(source) else ""


def spans_in(rows: Sequence[Row], text_column: str) -> tuple[str, str] | None:
    """Two columns that in each of some rows say where the value of a third stands in the text; None without some."""
    if not rows:
        return None
    values = [{str(value) for name, value in row.fields.items() if name != text_column} for row in rows]
    numbers = [
        name
        for name, value in rows[0].fields.items()
        if not isinstance(value, bool) and all(str(row.fields.get(name, "")).isdigit() for row in rows)
    ]
    for spans in itertools.permutations(numbers, 2):
        parts = (span_of(row, str(row.fields[text_column]), spans) for row in rows)
        if all(len(part) > 1 and not part.isdigit() and part in some for part, some in zip(parts, values, strict=True)):
            return spans
    return None


def _marked(row: Row, source: str) -> Row:
    return replace(row, fields={**row.fields, LINE: row.origin.line, SOURCE: source})


def _digest(text: str) -> int:
    return int.from_bytes(blake2b(plain(text).encode(), digest_size=8).digest())
