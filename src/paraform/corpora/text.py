"""Plain text: one sentence a line."""

from __future__ import annotations

from collections.abc import Iterator

from paraform.corpora.lines import Line, lines, records, sentence
from paraform.records import Sentence
from paraform.weights import PathLike


def read_text(path: PathLike, *, skip_bad_lines: bool = False) -> Iterator[Sentence]:
    """The sentences of a text file, one a line, without the white space around them; a TAB inside one stays.

    Raises: InputError, naming file and line, for a blank line.
    """
    return records(path, lines(path), _parse, skip_bad_lines)


def _parse(line: Line) -> Iterator[Sentence]:
    yield sentence(line.text, "line", line.origin)
