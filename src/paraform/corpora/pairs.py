"""Pair files: source TAB target."""

from __future__ import annotations

import re
from collections.abc import Iterator

from paraform.corpora.lines import Line, lines, records, sentences
from paraform.records import Pair
from paraform.weights import PathLike

_NAME = r"(?:text|sentence|question|sent|string|s|q)[ _]?(?:[12ab]|one|two)"
_HEADER = re.compile(rf"(?:{_NAME}\t{_NAME})|source\ttarget|original\tparaphrase|input\t(?:output|target)", re.I)


def read_pairs(path: PathLike, *, skip_bad_lines: bool = False) -> Iterator[Pair]:
    """The pairs of a file of two TAB-separated columns without a header.

    A quotation mark is a character like any other, and the white space around a sentence is dropped.
    Raises: InputError, naming file and line, for any other number of columns, an empty side, or a header.
    """
    return records(path, lines(path), _parse, skip_bad_lines)


def _parse(line: Line) -> Iterator[Pair]:
    source, target = sentences(line, "source", "target")
    if line.origin.line == 1 and _HEADER.fullmatch(f"{source.text}\t{target.text}"):
        raise line.origin.error(f"a header, {source.text!r} and {target.text!r}; expected pairs from the first line on")
    yield Pair(source, target, origin=line.origin)
