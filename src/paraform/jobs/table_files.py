"""Tables that are augmented in shards: CSV, TSV and JSON lines, whose rows stay as they stand, and Parquet."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol, final

from paraform.corpora.arrow import pyarrow_or_error
from paraform.corpora.columns import ArrowColumns, Columns, Place, read_parquet, text_alone
from paraform.corpora.table_lines import write_table
from paraform.corpora.tables import Dialect, Row, Table, choose_column, read_table
from paraform.records import InputError, Origin
from paraform.rewording.augmentation import LINE, MARKS, SOURCE
from paraform.weights import PathLike


class TableFile(Protocol):
    """A table of any format, which can be read again and again."""

    def read(self, *, warn: bool) -> Table:
        """The table, at its first row. Raises: InputError as `read_table`."""
        ...

    def columns(self) -> Columns:
        """What workers and `write` need of it: its texts as they stand, and of Parquet all columns."""
        ...

    def write(self, made: Iterator[Row], path: PathLike, table: Table, rows: Sequence[Row], first: int) -> None:
        """Write a shard.

        Args:
            made: rows of `table`, and others that were made of these.
            rows: all rows of the table that they come from, the first of which has the number `first`.
        """
        ...

    def read_shard(self, path: Path, table: Table) -> Iterator[Row]:
        """The rows of a shard."""
        ...


@final
@dataclass(frozen=True)
class LineTable:
    """CSV, TSV or JSON lines, as `read_table` reads them, which explains the arguments."""

    path: str
    text_column: str | None
    format: str
    skip_bad_lines: bool
    mark: bool

    def read(self, *, warn: bool) -> Table:
        return read_table(self.path, self.text_column, self.format, skip_bad_lines=self.skip_bad_lines, warn=warn)

    def columns(self) -> Columns:
        table = self.read(warn=False)
        return text_alone(str(row.fields[table.text_column]) for row in table.rows)

    def write(self, made: Iterator[Row], path: PathLike, table: Table, rows: Sequence[Row], first: int) -> None:
        write_table(made, path, [*table.columns, *(MARKS if self.mark else ())], table.dialect, read=table)

    def read_shard(self, path: Path, table: Table) -> Iterator[Row]:
        return read_table(path, table.text_column, self.format, skip_bad_lines=True, warn=False).rows


@final
@dataclass(frozen=True)
class ParquetTable:
    """Parquet, as `read_parquet` reads it, which explains the arguments; its columns are of any type.

    Args:
        arrow: where the file of `columns` is.
        spans: columns that move with the text.
    """

    path: str
    text_column: str | None
    skip_bad_lines: bool
    mark: bool
    arrow: PathLike = ""
    spans: tuple[str, str] | None = None

    def read(self, *, warn: bool) -> Table:
        found = read_parquet(self.path, self.text_column, skip_bad_lines=self.skip_bad_lines, warn=warn)
        names = found.schema.names
        if twice := sorted({name for name in names if names.count(name) > 1}):
            raise InputError(f"{self.path}: two columns are named {twice[0]!r}; expected names that differ")
        column = choose_column(names, self.text_column, Origin(self.path, 1))
        return Table(tuple(names), column, Dialect("parquet"), _rows(found.places))

    def columns(self) -> Columns:
        found = read_parquet(self.path, self.text_column, skip_bad_lines=self.skip_bad_lines, warn=False)
        column = choose_column(found.schema.names, self.text_column, Origin(self.path, 1))

        def as_it_stands(place: Place) -> Place:
            return place._replace(text=place.batch.column(column)[place.row].as_py())

        return Columns(found.schema, map(as_it_stands, found.places))

    def write(self, made: Iterator[Row], path: PathLike, table: Table, rows: Sequence[Row], first: int) -> None:
        arrow: Any = pyarrow_or_error()
        import pyarrow.parquet

        out = list(made)
        places = {row.origin.line: number for number, row in enumerate(rows)}
        whole = ArrowColumns(self.arrow).columns(first, first + len(rows))
        kept = whole.take(arrow.array([places[row.origin.line] for row in out], arrow.int64()))
        for name in (table.text_column, *(self.spans or ())):
            at = kept.schema.get_field_index(name)
            field = kept.schema.field(at)
            kept = kept.set_column(at, field, arrow.array([row.fields[name] for row in out], field.type))
        for name, kind in ((LINE, arrow.int64()), (SOURCE, arrow.string())) if self.mark else ():
            kept = kept.append_column(name, arrow.array([row.fields[name] for row in out], kind))
        pyarrow.parquet.write_table(kept, path)

    def read_shard(self, path: Path, table: Table) -> Iterator[Row]:
        return _rows(read_parquet(path, table.text_column, skip_bad_lines=True, warn=False).places)


def _rows(places: Iterator[Place]) -> Iterator[Row]:
    """Rows whose line is their number, from 1."""
    for _, group in itertools.groupby(places, lambda place: id(place.batch)):
        some = list(group)
        values = some[0].batch.to_pylist()
        for place in some:
            assert place.origin is not None  # of Parquet there is one
            yield Row(values[place.row], place.text, place.origin)
