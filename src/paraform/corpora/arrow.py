"""Records as an Arrow file, one a row: read by memory map, so that a corpus need not fit into memory.

The column `record` holds each as a line of JSON; `datasets.Dataset.from_file` reads the file, too.
"""

from __future__ import annotations

import itertools
import json
from collections.abc import Iterable
from typing import Any

from paraform.records import InputError, Record, from_json, to_json
from paraform.weights import PathLike, atomic_path

AT_ONCE = 4096  # rows of a record batch


def write_arrow(records: Iterable[Record], path: PathLike) -> int:
    """Write the records; returns how many. An error on the way, in the source of records too, leaves no file."""
    arrow, rest, count = pyarrow_or_error(), iter(records), 0
    schema = arrow.schema([("record", arrow.string())])
    with (
        atomic_path(path) as unfinished,
        arrow.OSFile(str(unfinished), "wb") as file,
        arrow.ipc.new_stream(file, schema) as out,
    ):
        while part := list(itertools.islice(rest, AT_ONCE)):
            lines = [json.dumps(to_json(record), ensure_ascii=False, allow_nan=False) for record in part]
            out.write_batch(arrow.record_batch([arrow.array(lines, arrow.string())], schema=schema))
            count += len(part)
    return count


class ArrowRecords:
    """The records of such a file by number: `rows(first, last)`.

    The file is mapped anew for each call, which takes a millisecond: what was read of a map counts as memory of the
    process as long as the map is there, so that it would grow with the corpus.
    """

    def __init__(self, path: PathLike) -> None:
        pyarrow_or_error()
        self._path = str(path)
        self._rows = len(self._data())

    def __len__(self) -> int:
        return self._rows

    def rows(self, first: int, last: int) -> list[Record]:
        """Those from `first` to `last`, that one left out."""
        return [from_json(json.loads(line)) for line in self._data()[first:last]["record"]]

    def _data(self) -> Any:
        import datasets

        try:
            return datasets.Dataset.from_file(self._path)
        except (OSError, ValueError) as error:
            said = " ".join(str(error).split())
            raise InputError(f"{self._path}: {said}; expected an Arrow file of records") from error


def pyarrow_or_error() -> Any:
    """The module `pyarrow`. Raises: InputError, which says how to install it, if it is not."""
    try:
        import datasets  # noqa: F401 (it comes with the same extra)
        import pyarrow
    except ImportError as error:
        raise InputError("corpora on disk need datasets: pip install 'paraform[cluster]'") from error
    return pyarrow
