"""Any data set of the `datasets` library: by hub name, by builder and local files, or a folder on disk."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from paraform.corpora.lines import checked, records
from paraform.records import InputError, Origin, Record, from_json
from paraform.weights import PathLike

SIDES = ({"text"}, {"source", "target"}, {"source", "exemplar", "target"})
NUMBERS = {"label", "score", "distance", "cluster"}


def read_dataset(
    name: PathLike,
    columns: Mapping[str, str],
    *,
    split: str = "train",
    config: str | None = None,
    data_files: str | Sequence[str] | Mapping[str, str | Sequence[str]] | None = None,
    streaming: bool = False,
    skip_bad_lines: bool = False,
) -> Iterator[Record]:
    """The records of a data set's split; an origin is the data set's name and the row's number, from 1.

    Args:
        name: a data set on the hub; a builder ("csv", "json", "parquet" …) with `data_files`; or a folder
            that `save_to_disk` wrote.
        columns: the data set's column for each field of the record, such as
            {"source": "question1", "target": "question2", "label": "is_duplicate"}. With "text" alone the records
            are Sentences, with "source" and "target" Pairs, with "exemplar" as well Triples.
        split: a split by `datasets`' name, such as "validation" or "train[:1%]"; a folder of one data set has none.
        config: the data set's configuration, where it has several.
        streaming: read over the network as one goes, without a copy on disk.
    Raises: InputError if `datasets` is not installed, the data set, split or a column is not there, or a row has an
        empty text or a value of another type.
    """
    sides = {"text", "source", "exemplar", "target"} & set(columns)
    if sides not in SIDES or not set(columns) <= sides | NUMBERS:
        example = "{'source': 'question1', 'target': 'question2', 'label': 'is_duplicate'}"
        raise InputError(f"columns are {dict(columns)}; expected such as {example} or {{'text': 'sentence'}}")
    data = _load(name, config, split, data_files, streaming)
    present = data.column_names
    for column in columns.values():
        if present is not None and column not in present:
            raise InputError(f"{name}: no column {column!r}; expected one of {', '.join(present)}")

    def parse(numbered: tuple[int, dict[str, Any]]) -> Iterator[Record]:
        origin = Origin(str(name), numbered[0])
        cells = {field: numbered[1].get(column) for field, column in columns.items()}
        known = {
            field: int(cell) if isinstance(cell, bool) else cell for field, cell in cells.items() if cell is not None
        }
        yield checked(from_json(known, origin), origin)

    yield from records(name, _rows(data, f"{name}: no rows in the split {split!r}"), parse, skip_bad_lines)


def _rows(data: Any, none: str) -> Iterator[tuple[int, dict[str, Any]]]:
    number = 0
    for number, row in enumerate(data, start=1):
        yield number, row
    if not number:
        raise InputError(f"{none}; expected at least one")


def _load(name: PathLike, config: str | None, split: str, data_files: Any, streaming: bool) -> Any:
    try:
        import datasets
    except ImportError as error:
        raise InputError("reading a data set by name needs datasets: pip install 'paraform[cluster]'") from error
    try:
        if not any((Path(name) / kept).is_file() for kept in ("state.json", "dataset_dict.json")):
            return datasets.load_dataset(str(name), config, split=split, data_files=data_files, streaming=streaming)
        saved = datasets.load_from_disk(str(name))
    except (OSError, ValueError, datasets.exceptions.DatasetsError) as error:
        raise InputError(f"{name}: cannot be loaded ({' '.join(str(error).split())})") from error
    if not isinstance(saved, datasets.DatasetDict):
        return saved
    if split not in saved:
        raise InputError(f"{name}: no split {split!r}; expected one of {', '.join(saved)}")
    return saved[split]
