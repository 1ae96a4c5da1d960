"""JSON lines: how records are kept between two stages."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from typing import Any

from paraform.corpora.lines import Line, checked, lines, records
from paraform.json_text import parse_json
from paraform.records import Record, from_json, several, to_json
from paraform.weights import PathLike, atomic_path, require_path

MAX_CHARACTERS = 1_000_000  # a line may hold tokens, tags and trees of three sentences


def read_jsonl(path: PathLike, *, skip_bad_lines: bool = False) -> Iterator[Record]:
    """The records of a file that `write_jsonl` wrote, or any with a `text`, or a `source` and a `target`, a line.

    Raises: InputError, naming file and line, for what is not JSON or not a record.
    """
    return records(path, lines(path, MAX_CHARACTERS), _parse, skip_bad_lines)


def write_jsonl(written: Iterable[Record], path: PathLike) -> int:
    """Write a record a line; returns how many. An error on the way, in the source of records too, leaves no file."""
    require_path(path)
    count, written = 0, several(written, "records")
    with atomic_path(path) as unfinished, open(unfinished, "w", encoding="utf-8", newline="\n") as file:
        for record in written:
            file.write(json.dumps(to_json(record), ensure_ascii=False, allow_nan=False) + "\n")
            count += 1
    return count


def value_of(line: Line, **how: Any) -> Any:
    """The JSON value of a line. Raises: InputError for what is not JSON, or more of it than can be read.

    Args:
        how: as in `parse_json`.
    """
    return parse_json(line.text, line.origin, **how)


def _parse(line: Line) -> Iterator[Record]:
    yield checked(from_json(value_of(line), line.origin), line.origin)
