"""Rows of a table as lines that are read back equal; those that were read, as they stand in their file."""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence

from paraform.corpora.tables import BYTE_ORDER_MARK, DELIMITERS, Dialect, Row, Table, Value, table_format
from paraform.records import Origin
from paraform.weights import PathLike, atomic_path

_MEMBER = re.compile(r'("(?:[^"\\]|\\.)*")\s*:\s*("(?:[^"\\]|\\.)*"|[^\s,}]+)')  # of an object without nested ones


def table_lines(
    rows: Iterable[Row], columns: Sequence[str], dialect: Dialect, *, read: Table | None = None
) -> Iterator[str]:
    """The lines of a table that `read_table` reads back equal, its header first.

    Args:
        columns: of CSV and TSV; a row that lacks one has an empty field there. JSON lines hold each row's own.
        read: the table that rows were read from: in its own dialect its lines are copied, further columns behind them.
    Raises: InputError, naming a row's place, for a column that is not among `columns`, and for what TSV cannot hold.
    """
    before = BYTE_ORDER_MARK if dialect.mark else ""
    for line in _lines_of(rows, columns, dialect, read if read is not None and read.dialect == dialect else None):
        yield before + line
        before = "" if line.endswith("\n") else dialect.line_end  # what was a file's last line may not be it any more


def _lines_of(rows: Iterable[Row], columns: Sequence[str], dialect: Dialect, copied: Table | None) -> Iterator[str]:
    join = {"csv": _comma_separated, "tsv": _tab_separated}.get(dialect.format)
    more = [column for column in columns if copied is not None and column not in copied.columns]
    if join is not None:
        top = Origin("header", 1)
        header = join(columns, dialect, top, header=True)
        yield _longer(copied.header, dict(zip(more, more, strict=True)), dialect, top) if copied else header
    for row in rows:
        if copied is not None and row.line:
            added = {column: row.fields[column] for column in more if column in row.fields}
            yield _longer(row.line, added, dialect, row.origin)
        elif join is None:
            yield json.dumps(dict(row.fields), ensure_ascii=False, allow_nan=False) + dialect.line_end
        elif unknown := row.fields.keys() - set(columns):
            raise row.origin.error(f"column {min(unknown)!r} is not in the first row; JSON lines could hold it")
        else:
            yield join([_cell(row.fields.get(column)) for column in columns], dialect, row.origin)


def write_table(
    rows: Iterable[Row], path: PathLike, columns: Sequence[str], dialect: Dialect, *, read: Table | None = None
) -> int:
    """Write those lines; returns how many rows. An error on the way, in the source of rows too, leaves no file."""
    count = 0

    def counted() -> Iterator[Row]:
        nonlocal count
        for row in rows:
            count += 1
            yield row

    with atomic_path(path) as unfinished, open(unfinished, "w", encoding="utf-8", newline="") as file:
        file.writelines(table_lines(counted(), columns, dialect, read=read))
    return count


def changed(row: Row, values: Mapping[str, Value], dialect: Dialect) -> Row:
    """The row with other values in some of its columns; of JSON lines the others stay as they are written: 0.70."""
    fields = {**row.fields, **values}
    if dialect.format != "jsonl" or not row.line:
        return Row(fields, row.text, row.origin)
    line = row.line
    for found in reversed([*_MEMBER.finditer(row.line)]):
        name = json.loads(found[1])
        if name in values:
            line = (
                line[: found.start(2)]
                + json.dumps(values[name], ensure_ascii=row.line.isascii())
                + line[found.end(2) :]
            )
    return Row(fields, row.text, row.origin, line)


def dialect_for(path: PathLike | None, like: Dialect) -> Dialect:
    """How to write a table of that name: as `like`, unless the name ends in that of another format."""
    format = like.format if path is None else table_format(path) or like.format
    return like if format == like.format else Dialect(format)


def _cell(value: Value) -> str:
    if isinstance(value, str):
        return value
    return "" if value is None else json.dumps(value)


def _longer(line: str, added: Mapping[str, Value], dialect: Dialect, origin: Origin) -> str:
    """A row's line with further columns behind it; its line end, if it has one, stays."""
    body = line.rstrip("\r\n")
    end = line[len(body) :]
    if not added:
        return line
    if dialect.format == "jsonl":
        rest = json.dumps(dict(added), ensure_ascii=False, allow_nan=False)
        return f"{body.rstrip().removesuffix('}').rstrip()}, {rest.removeprefix('{')}{end}"
    tab = dialect.format == "tsv"
    cells = [_cell(value) for value in added.values()]
    behind = (_tab_separated if tab else _comma_separated)(cells, dialect, origin)
    return body + ("\t" if tab else dialect.delimiter) + behind.removesuffix(dialect.line_end) + end


def _comma_separated(cells: Sequence[str], dialect: Dialect, origin: Origin, *, header: bool = False) -> str:
    # A name with another delimiter in it, unquoted, would be taken for two.
    every = header and any(special in cell for cell in cells for special in DELIMITERS + BYTE_ORDER_MARK)
    out = io.StringIO()
    # Python 3.11 quotes those line breaks only that are the line's own end.
    csv.writer(
        out,
        delimiter=dialect.delimiter,
        lineterminator="\r\n",
        quoting=csv.QUOTE_ALL if every else csv.QUOTE_MINIMAL,
    ).writerow(cells)
    return out.getvalue().removesuffix("\r\n") + dialect.line_end


def _tab_separated(cells: Sequence[str], dialect: Dialect, origin: Origin, *, header: bool = False) -> str:
    line = "\t".join(cells)
    if line.count("\t") >= len(cells) or "\n" in line or (header and "\r" in line) or line.endswith("\r"):
        bad = next(cell for cell in cells if any(end in cell for end in "\t\n\r"))
        raise origin.error(f"a TAB or a line break in {bad[:40]!r}; expected none in TSV, or CSV or JSON lines")
    return line + dialect.line_end
