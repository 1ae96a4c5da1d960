"""Tables: rows of CSV, TSV or JSON lines, one column of which is text; the others pass through as they are."""

from __future__ import annotations

import contextlib
import csv
import dataclasses
import itertools
import math
import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias

from paraform.corpora.jsonl import value_of
from paraform.corpora.lines import MAX_CHARACTERS, Line, lines, records, require_writable, sentence
from paraform.corpora.quoted import fields_of, in_one_line, quoted_rows
from paraform.records import InputError, Origin, Sentence
from paraform.weights import PathLike

TABLES = ("csv", "tsv", "jsonl")
ENDINGS = {".csv": "csv", ".tsv": "tsv", ".tab": "tsv", ".jsonl": "jsonl", ".json": "jsonl", ".ndjson": "jsonl"}
TEXT_COLUMNS = ("text", "sentence", "utterance", "question", "source")
MAX_ROW = 1_000_000
"""The longest row, in characters; a text in it has at most `MAX_CHARACTERS`, a CSV field what csv allows (131,072)."""

DELIMITERS = ",;\t"
BYTE_ORDER_MARK = "\ufeff"

Value: TypeAlias = str | int | float | bool | None
"""What a field holds: of CSV and TSV a string."""


@dataclass(frozen=True, slots=True)
class Row:
    """A row of a table.

    Args:
        fields: every column of the row, in order, as it was.
        text: that of the text column, in one line and without the white space around it.
        origin: where it begins; a CSV row may go over several lines.
        line: the row as it stands in its file, with its line end; "" of a row that was made.
    """

    fields: Mapping[str, Value]
    text: str
    origin: Origin
    line: str = dataclasses.field(default="", compare=False, repr=False)


class PairRow(NamedTuple):
    """Two texts of a row, and what it says of them: a label, or a score."""

    source: Sentence
    target: Sentence
    value: Value
    origin: Origin


@dataclass(frozen=True, slots=True)
class Dialect:
    """How a table is written down.

    Args:
        format: one of `TABLES`.
        delimiter: between two fields of CSV.
        line_end: LF or CRLF.
        mark: whether the file begins with a byte order mark, by which Excel knows UTF-8.
    """

    format: str
    delimiter: str = ","
    line_end: str = "\n"
    mark: bool = False


@dataclass(frozen=True, slots=True)
class Table:
    """A table that is being read.

    Args:
        columns: their names, in order; of JSON lines the keys of the first row.
        text_column: the one that `Row.text` is of.
        rows: read as they are asked for, once.
        header: as it stands in the file, with its line end; "" of JSON lines.
    """

    columns: tuple[str, ...]
    text_column: str
    dialect: Dialect
    rows: Iterator[Row]
    header: str = ""


def table_format(path: PathLike) -> str | None:
    """The format that a file's name ends in; None if in none of a table."""
    return ENDINGS.get(Path(path).suffix.lower())


def read_table(
    path: PathLike,
    text_column: str | None = None,
    format: str | None = None,
    *,
    skip_bad_lines: bool = False,
    warn: bool = True,
) -> Table:
    """A table with a header (CSV, TSV), or with an object a line (JSON lines).

    CSV: fields apart by commas, or by semicolons or TABs if the header has those and no comma; a field in double
    quotes may hold all of these, line breaks, and quotes written twice. TSV: fields apart by TABs and nothing quoted,
    so that no field holds a TAB or a line break. JSON lines: each value a string, a number, true, false or null.

    Args:
        text_column: None: the only one whose name is among `TEXT_COLUMNS`, in capitals or not.
        format: one of `TABLES`; None: as the file's name ends.
        skip_bad_lines: leave out the rows that cannot be used, and count them in one warning at the end.
        warn: False: without that warning, for a file that is read twice.
    Raises: InputError `FILE:LINE: what is wrong; what is expected`; at once for a file, header or text column that
        cannot be used, for a row when iteration gets there.
    """
    format = format or table_format(path)
    if format is None:
        raise InputError(f"{path}: no table by its name; expected one that ends in {', '.join(ENDINGS)}, or a format")
    if format not in TABLES:
        raise InputError(f"format {format!r}; expected one of {', '.join(TABLES)}")
    physical = lines(path, MAX_ROW, keep_ends=True)
    first = next(physical)
    content = "" if isinstance(first.content, InputError) else first.content
    told = re.fullmatch(r"sep=([,;\t])\r?\n", content) if format == "csv" else None  # Excel's line above the header
    if told is None:
        physical = itertools.chain([first], physical)
    delimiter = told[1] if told else delimiter_of(content) if format == "csv" else "\t"
    dialect = Dialect(format, delimiter, "\r\n" if content.endswith("\r\n") else "\n", _marked(path))

    def finished(parse: Callable[[Line], Iterator[Row]], rows: Iterator[Line]) -> Iterator[Row]:
        return records(path, rows, parse, skip_bad_lines, warn)

    if format == "jsonl":
        column = text_column

        def parse_object(line: Line) -> Iterator[Row]:
            nonlocal column
            fields = _object(line)
            if column is None or column not in fields:  # a row without it is bad; the first one says which it is
                column = choose_column(list(fields), column, line.origin)
            yield _row(fields, column, line)

        rows = finished(parse_object, physical)
        begun = next(rows)  # or an error: there is a first line
        assert column is not None
        return Table(tuple(begun.fields), column, dialect, itertools.chain([begun], rows))

    whole = quoted_rows(physical, delimiter, MAX_ROW) if format == "csv" else physical
    header = next(whole)
    columns = _columns(_fields(header, dialect), header.origin)
    chosen = choose_column(columns, text_column, header.origin)

    def parse_fields(line: Line) -> Iterator[Row]:
        fields = _fields(line, dialect)
        if len(fields) != len(columns):
            came = "1 field" if len(fields) == 1 else f"{len(fields)} fields" if fields else "a blank line"
            raise line.origin.error(f"{came}; expected {len(columns)}, as in the header")
        yield _row(dict(zip(columns, fields, strict=True)), chosen, line)

    below = next(whole, None)
    if below is None:
        raise header.origin.error("no rows below the header; expected at least one")
    rows = finished(parse_fields, itertools.chain([below], whole))
    return Table(columns, chosen, dialect, rows, (told[0] if told else "") + header.text)


def rows_with(
    path: PathLike, columns: Sequence[str], format: str | None = None, *, skip_bad_lines: bool = False
) -> Iterator[Row]:
    """The rows of a table that has all these columns, the first of which holds texts; the name of the file may be any.

    Args:
        format: one of `TABLES`; None: as the file's name ends, else TSV.
        skip_bad_lines: as `read_table` has it.
    Raises: InputError as `read_table`, and for a column that is not there, at the header if there is one, or that is
        named twice.
    """
    if twice := [column for column in columns if columns.count(column) > 1]:
        raise Origin(str(path), 1).error(f"column {twice[0]!r} is named twice; expected columns that differ")
    known = format or table_format(path) or "tsv"
    found = read_table(path, columns[0], known, skip_bad_lines=skip_bad_lines)
    for column in columns:
        require_column(column, found.columns, Origin(str(path), 1))

    def complete(row: Row) -> Iterator[Row]:
        for column in columns:
            require_column(column, row.fields, row.origin)  # an object of JSON lines may lack one
        yield row

    yield from records(path, found.rows, complete, skip_bad_lines)


def pair_rows(
    path: PathLike, columns: Sequence[str], format: str | None = None, *, skip_bad_lines: bool = False
) -> Iterator[PairRow]:
    """The rows of a table by the names of two columns with texts and, perhaps, of one that says something of the two.

    Raises: InputError as `rows_with`, and for a second text that is none.
    """
    second, value = columns[1], columns[2:]

    def parse(row: Row) -> Iterator[PairRow]:
        source, target = row.text, text_in(row.fields[second], second, row.origin)
        sides = Sentence(source, origin=row.origin), Sentence(target, origin=row.origin)
        yield PairRow(*sides, row.fields[value[0]] if value else None, row.origin)

    return records(path, rows_with(path, columns, format, skip_bad_lines=skip_bad_lines), parse, skip_bad_lines)


def require_column(name: str, columns: Collection[str], origin: Origin) -> None:
    """Raises: InputError, which names those there are, if there is no such column."""
    if name not in columns:
        raise origin.error(f"no column {name!r}; expected one of {_listed(list(columns))}")


def _row(fields: dict[str, Value], column: str, line: Line) -> Row:
    return Row(fields, text_in(fields[column], column, line.origin), line.origin, line.text)


def text_in(value: object, column: str, origin: Origin) -> str:
    """The text that a field holds, in one line. Raises: InputError for what is no text, is empty or too long."""
    if not isinstance(value, str):
        raise origin.error(f"column {column!r} holds {kind_of(value)}; expected a text")
    text = sentence(in_one_line(value), f"column {column!r}", origin).text
    if len(text) > MAX_CHARACTERS:
        raise origin.error(f"column {column!r} has {len(text):,} characters; expected at most {MAX_CHARACTERS:,}")
    return text


def choose_column(columns: Sequence[str], wanted: str | None, origin: Origin) -> str:
    """The wanted one, else the only one of `TEXT_COLUMNS`. Raises: InputError, which names the columns, otherwise."""
    if wanted is not None:
        require_column(wanted, columns, origin)
        return wanted
    found = [column for column in columns if column.strip().lower() in TEXT_COLUMNS]
    if len(found) != 1:
        came = f"columns {_listed(found)}" if found else f"no column named {', '.join(TEXT_COLUMNS)}"
        raise origin.error(f"{came}; expected the text column to be named, one of {_listed(columns)}")
    return found[0]


def _columns(names: list[str], origin: Origin) -> tuple[str, ...]:
    if not any(names):
        raise origin.error("a blank line; expected a header, the names of the columns")
    if twice := sorted({name for name in names if names.count(name) > 1}):
        raise origin.error(f"{names.count(twice[0])} columns are named {twice[0]!r}; expected names that differ")
    return tuple(names)


def _listed(columns: Sequence[str]) -> str:
    most = 20
    more = f" and {len(columns) - most:,} more" if len(columns) > most else ""
    return ", ".join(repr(column[:40]) for column in columns[:most]) + more


def _fields(line: Line, dialect: Dialect) -> list[str]:
    if dialect.format == "csv":
        return fields_of(line, dialect.delimiter, strict=True)
    return line.text.removesuffix("\n").removesuffix("\r").split("\t")


def _object(line: Line) -> dict[str, Value]:
    """The object of a line, nothing of which is nested."""

    def once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        found = dict(pairs)
        if len(found) < len(pairs):
            raise line.origin.error("two values of one key; expected keys that differ")
        return found

    def constant(name: str) -> None:
        raise line.origin.error(f"{name}; expected a number that JSON has")

    value = value_of(line, object_pairs_hook=once, parse_constant=constant)
    if not isinstance(value, dict):
        raise line.origin.error(f"{kind_of(value)}; expected an object a line, such as {{'text': …}}")
    for key, field in value.items():
        if isinstance(field, (dict, list)):
            raise line.origin.error(f"column {key[:40]!r} holds {kind_of(field)}; expected a text or a number")
        if isinstance(field, float) and not math.isfinite(field):
            raise line.origin.error(f"column {key[:40]!r} holds a number beyond all bounds; expected a finite one")
        for text in (key, field if isinstance(field, str) else ""):
            require_writable(text, f"column {key[:40]!r}", line.origin)
    return value


def kind_of(value: object) -> str:
    """A value of JSON in words, for messages."""
    kinds = {
        str: "a text",
        bool: "true or false",
        int: "a number",
        float: "a number",
        list: "a list",
        dict: "an object",
    }
    return kinds.get(type(value), "null")


def _marked(path: PathLike) -> bool:
    if not Path(path).is_file():  # a pipe, of which nothing can be looked at twice
        return False
    with open(path, "rb") as file:
        return file.read(3) == BYTE_ORDER_MARK.encode()


def delimiter_of(header: str) -> str:
    """What stands between a header's fields: the first of `DELIMITERS` that makes several of it, else a comma."""
    for delimiter in DELIMITERS:
        with contextlib.suppress(csv.Error):
            if len(next(csv.reader([header], delimiter=delimiter, strict=True), [])) > 1:
                return delimiter
    return ","
