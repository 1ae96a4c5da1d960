"""Triple files: source TAB exemplar TAB target."""

from __future__ import annotations

from collections.abc import Iterator

from paraform.corpora.lines import Line, lines, records, sentences
from paraform.records import Triple
from paraform.weights import PathLike


def read_triples(path: PathLike, *, skip_bad_lines: bool = False) -> Iterator[Triple]:
    """The triples of a file of three TAB-separated columns without a header.

    Raises: InputError, naming file and line, for any other number of columns or an empty side.
    """
    return records(path, lines(path), _parse, skip_bad_lines)


def _parse(line: Line) -> Iterator[Triple]:
    source, exemplar, target = sentences(line, "source", "exemplar", "target")
    yield Triple(source, exemplar, target, origin=line.origin)
