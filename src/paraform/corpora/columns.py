"""A corpus with its columns as an Arrow file: text, JSON lines or Parquet, read once and then by row number.

The file's first column is the text of each row, in one line; the others are the corpus's own, as they came. It is read
by memory map, so that a corpus need not fit into memory.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from paraform.corpora.arrow import AT_ONCE, pyarrow_or_error
from paraform.corpora.formats import read
from paraform.corpora.lines import records, require_writable
from paraform.corpora.tables import Row, choose_column, kind_of, read_table, table_format, text_in
from paraform.records import InputError, Origin, sides_of
from paraform.weights import PathLike, atomic_path

PARQUET = ".parquet"
HUB_FEATURES = b"huggingface"  # how `datasets` describes the columns of a Parquet file: all of them, or it is an error


class Place(NamedTuple):
    """A row, and its text.

    Args:
        batch: the Arrow record batch that holds its columns; None of a corpus that is text alone.
        row: its number in the batch.
        origin: of Parquet the file and the row, from 1.
    """

    text: str
    batch: Any
    row: int
    origin: Origin | None = None


class Columns(NamedTuple):
    """A corpus that is being read.

    Args:
        schema: the Arrow schema of its columns; without any of one that is text alone.
        places: its rows, read as they are asked for, once.
    """

    schema: Any
    places: Iterator[Place]


def read_columns(
    path: PathLike, format: str = "text", text_column: str | None = None, *, skip_bad_lines: bool = False
) -> Columns:
    """Any corpus: what the file's name ends in decides (Parquet; with the format "text", JSON lines), else its format.

    Args:
        format: a key of `formats.FORMATS`; of pairs and triples the sources are read, of "jsonl" all columns.
        text_column: that of the texts, by which other tables are tables, too; None: the usual one.
        skip_bad_lines: leave out what cannot be used, and count it in one warning at the end.
    """
    name = str(path).lower()
    if name.endswith(PARQUET):
        return read_parquet(path, text_column, skip_bad_lines=skip_bad_lines)
    lines = format == "jsonl" or (format == "text" and table_format(name) == "jsonl")
    if lines or text_column is not None:
        return read_table_columns(path, text_column, "jsonl" if lines else None, skip_bad_lines=skip_bad_lines)
    found = read(path, format, skip_bad_lines=skip_bad_lines)
    return text_alone(next(iter(sides_of(record).values())).text for record in found)


def text_alone(texts: Iterable[str]) -> Columns:
    """A corpus without columns."""
    return Columns(pyarrow_or_error().schema([]), (Place(text, None, 0) for text in texts))


def with_columns(rows: Iterable[tuple[Any, ...]], types: Mapping[str, type]) -> Columns:
    """Rows of a text and of values for those columns, each of which is of one type, or None."""
    arrow = pyarrow_or_error()
    known = {str: arrow.string(), int: arrow.int64()}
    schema = arrow.schema([(name, known[kind]) for name, kind in types.items()])

    def places() -> Iterator[Place]:
        left = iter(rows)
        while part := list(itertools.islice(left, AT_ONCE)):
            values = list(zip(*part, strict=True))[1:]
            columns = [arrow.array(column, kind) for column, kind in zip(values, schema.types, strict=True)]
            batch = arrow.record_batch(columns, schema=schema)
            yield from (Place(row[0], batch, number) for number, row in enumerate(part))

    return Columns(schema, places())


def read_table_columns(
    path: PathLike, text_column: str | None = None, format: str | None = None, *, skip_bad_lines: bool = False
) -> Columns:
    """A table as `tables.read_table` reads it, which explains the arguments; it is read twice, first for its types.

    A column of JSON lines holds texts, whole numbers of 64 bits, numbers, or true and false; a row may lack it, or have
    null there. Raises: InputError, naming file and line, for one that holds two of these, and as `read_table`.
    """
    arrow = pyarrow_or_error()
    table = read_table(path, text_column, format, skip_bad_lines=skip_bad_lines, warn=False)
    types = {str: arrow.string(), bool: arrow.bool_(), int: arrow.int64(), float: arrow.float64()}
    schema = arrow.schema([(name, types[kind]) for name, kind in _kinds(table.rows).items()])

    def places() -> Iterator[Place]:
        rows = read_table(path, text_column, format, skip_bad_lines=skip_bad_lines).rows
        while part := list(itertools.islice(rows, AT_ONCE)):
            batch = arrow.RecordBatch.from_pylist([dict(row.fields) for row in part], schema=schema)
            yield from (Place(row.text, batch, number) for number, row in enumerate(part))

    return Columns(schema, places())


def read_parquet(
    path: PathLike,
    text_column: str | None = None,
    *,
    second: str | None = None,
    skip_bad_lines: bool = False,
    warn: bool = True,
) -> Columns:
    """A Parquet file, its columns of any type.

    Args:
        text_column: None: the only one whose name is among `tables.TEXT_COLUMNS`.
        second: another column, that of texts which belong to these, and must be such, too.
        skip_bad_lines: leave out rows whose text cannot be used, and count them in one warning at the end.
        warn: False: without that warning, for a file that is read twice.
    Raises: InputError, naming the file and, where it is one, the row (from 1), for what cannot be read.
    """
    arrow = pyarrow_or_error()
    import pyarrow.parquet

    try:
        file = pyarrow.parquet.ParquetFile(path)
    except (OSError, ValueError) as error:
        raise _unreadable(path, error) from error
    schema = file.schema_arrow
    column = choose_column(schema.names, text_column, Origin(str(path), 1))
    texts = [column, *([choose_column(schema.names, second, Origin(str(path), 1))] if second else [])]
    for name in texts:
        if schema.names.count(name) > 1:
            raise InputError(f"{path}: {schema.names.count(name)} columns are named {name!r}; expected one")
    metadata = {key: value for key, value in (schema.metadata or {}).items() if key != HUB_FEATURES}

    def rows() -> Iterator[tuple[Any, int, Any, Origin]]:
        numbers = itertools.count(1)
        batches = file.iter_batches(AT_ONCE)
        while True:
            try:
                batch = next(batches, None)
                read = [] if batch is None else [batch.column(name).to_pylist() for name in texts]
            except (OSError, ValueError, arrow.ArrowException) as error:
                raise _unreadable(path, error) from error
            if batch is None:
                return
            for row, values in enumerate(zip(*read, strict=True)):
                yield batch, row, values, Origin(str(path), next(numbers))

    def parse(found: tuple[Any, int, Any, Origin]) -> Iterator[Place]:
        batch, row, values, origin = found
        for name, value in zip(texts, values, strict=True):
            require_writable(text_in(value, name, origin), f"column {name!r}", origin)
        yield Place(text_in(values[0], column, origin), batch, row, origin)

    if not file.metadata.num_rows:
        raise InputError(f"{path}: no rows; expected at least one")
    return Columns(schema.with_metadata(metadata or None), records(path, rows(), parse, skip_bad_lines, warn))


def write_columns(corpus: Columns, path: PathLike) -> None:
    """Write the corpus as an Arrow file. An error on the way, in the reading of the corpus too, leaves no file."""
    arrow = pyarrow_or_error()
    schema = arrow.schema([("text", arrow.string()), *corpus.schema], metadata=corpus.schema.metadata)
    if views := [field.name for field in corpus.schema if str(field.type).endswith("_view")]:
        raise InputError(
            f"column {views[0]!r} is of Arrow's views, which it cannot take rows of; expected plain strings"
        )
    with (
        atomic_path(path) as unfinished,
        arrow.OSFile(str(unfinished), "wb") as file,
        arrow.ipc.new_stream(file, schema) as out,
    ):
        while part := list(itertools.islice(corpus.places, AT_ONCE)):
            for _, group in itertools.groupby(part, lambda place: id(place.batch)):
                kept = list(group)
                columns = (
                    kept[0].batch.take(arrow.array([place.row for place in kept])).columns if len(schema) > 1 else []
                )
                texts = arrow.array([place.text for place in kept], arrow.string())
                out.write_batch(arrow.record_batch([texts, *columns], schema=schema))


class ArrowColumns:
    """Such a file, mapped anew for each question, as in `arrow.ArrowRecords`."""

    def __init__(self, path: PathLike) -> None:
        self._path = str(path)
        table = self._table()
        self._rows, self._names = int(table.num_rows), list(table.schema.names[1:])

    def __len__(self) -> int:
        return self._rows

    @property
    def names(self) -> list[str]:
        """The corpus's own columns."""
        return self._names

    def texts(self, first: int, last: int) -> list[str]:
        """Those from row `first` to `last`, that one left out."""
        return list(self._table().column(0).slice(first, last - first).to_pylist())

    def columns(self, first: int, last: int) -> Any:
        """The Arrow table of the corpus's own columns, of the same rows."""
        return self._table().slice(first, last - first).remove_column(0)

    def take(self, rows: NDArray[np.integer[Any]], *names: str) -> dict[str, list[Any]]:
        """These columns, or all, the text as "text", of the rows of these numbers, in their order."""
        arrow = pyarrow_or_error()
        table = self._table()
        table = table.select(names) if names else table
        batches = table.to_batches()
        ends = np.cumsum([len(batch) for batch in batches])
        order = np.argsort(rows, kind="stable")
        numbers, begins = np.unique(np.searchsorted(ends, rows[order], side="right"), return_index=True)
        parts = [
            batches[number].take(arrow.array(rows[some] - (ends[number] - len(batches[number]))))
            for number, some in zip(numbers.tolist(), np.split(order, begins[1:]), strict=False)
        ]
        back = np.empty_like(order)
        back[order] = np.arange(len(order))
        found = arrow.Table.from_batches(parts, schema=table.schema).to_pydict()
        return {name: [values[at] for at in back] for name, values in found.items()}

    def _table(self) -> Any:
        """It takes no memory until its rows are looked at."""
        arrow = pyarrow_or_error()
        try:
            return arrow.ipc.open_stream(arrow.memory_map(self._path)).read_all()
        except (OSError, ValueError) as error:
            said = " ".join(str(error).split())
            raise InputError(f"{self._path}: {said}; expected an Arrow file of a corpus; remove it") from error


def _kinds(rows: Iterable[Row]) -> Mapping[str, type]:
    """The type that each column's values have; whole numbers and others are numbers, and null is of any."""
    kinds: dict[str, type | None] = {}
    for row in rows:
        for name, value in row.fields.items():
            before = kinds.setdefault(name, None)
            if value is None or before is type(value):
                continue
            if isinstance(value, int) and not -(2**63) <= value < 2**63:
                raise row.origin.error(f"column {name[:40]!r} holds a number beyond 64 bits; expected a smaller one")
            if before is None:
                kinds[name] = type(value)
            elif {before, type(value)} == {int, float}:
                kinds[name] = float
            else:
                came = f"{kind_of(value)}, rows before it {kind_of(before())}"
                raise row.origin.error(f"column {name[:40]!r} holds {came}; expected one kind in all rows")
    return {name: kind or str for name, kind in kinds.items()}


def _unreadable(path: PathLike, error: Exception) -> InputError:
    return InputError(f"{path}: {' '.join(str(error).split())[:200]}; expected a Parquet file")
