"""Pair files: source TAB target."""

from __future__ import annotations

from collections.abc import Iterator

from paraform.corpora.lines import Line, lines, records, sentences
from paraform.records import Pair
from paraform.weights import PathLike


def read_pairs(path: PathLike, *, skip_bad_lines: bool = False) -> Iterator[Pair]:
    """The pairs of a file of two TAB-separated columns without a header.

    A quotation mark is a character like any other, and the white space around a sentence is dropped.
    Raises: InputError, naming file and line, for any other number of columns or an empty side.
    """
    return records(path, lines(path), _parse, skip_bad_lines)


def _parse(line: Line) -> Iterator[Pair]:
    source, target = sentences(line, "source", "target")
    yield Pair(source, target, origin=line.origin)
