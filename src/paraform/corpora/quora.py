"""Quora's own release: quora_duplicate_questions.tsv (Iyer, Dandekar and Csernai 2017)."""

from __future__ import annotations

import csv
import itertools
import re
from collections import deque
from collections.abc import Iterator

from paraform.corpora.lines import MAX_CHARACTERS, Line, lines, records, sentence
from paraform.records import InputError, Pair
from paraform.weights import PathLike

COLUMNS = ("question1", "question2", "is_duplicate")


def read_quora(path: PathLike, *, skip_bad_lines: bool = False) -> Iterator[Pair]:
    """The labelled pairs of the published file: TAB separated with a header, fields quoted as in CSV.

    A quoted question may hold TABs and line breaks, which become a space; the record's line is the one where its row
    starts. `label` is `is_duplicate`. The published file has a few rows with an empty question: they are errors, so
    the whole of it is read with `skip_bad_lines`.
    Raises: InputError, naming file and line, for a header without question1, question2 and is_duplicate, a row of
        other columns than the header, an empty question, a label that is not 0 or 1, or a quote that is not closed.
    """
    rows = _rows(lines(path))
    header_line = next(rows)
    header = _fields(header_line)
    missing = [name for name in COLUMNS if name not in header]
    if missing:
        wanted = "id, qid1, qid2, question1, question2, is_duplicate, TAB separated"
        raise header_line.origin.error(f"no column {missing[0]!r} in the header; expected {wanted}")
    places = [header.index(name) for name in COLUMNS]

    def parse(row: Line) -> Iterator[Pair]:
        fields = _fields(row)
        if len(fields) != len(header):
            raise row.origin.error(f"{len(fields)} columns; expected {len(header)}, as in the header")
        first, second, label = (fields[place] for place in places)
        if label not in ("0", "1"):
            raise row.origin.error(f"is_duplicate is {label[:40]!r}; expected 0 or 1")
        source, target = sentence(first, "question1", row.origin), sentence(second, "question2", row.origin)
        yield Pair(source, target, label=int(label), origin=row.origin)

    yield from records(path, rows, parse, skip_bad_lines)


def _rows(physical: Iterator[Line]) -> Iterator[Line]:
    """Rows of one or more physical lines, joined by "\\n"; the origin is the first one's.

    A quote that no line within MAX_CHARACTERS closes spoils only the line it stands in.
    """
    ahead: deque[Line] = deque()
    # How many of those, from the first on, leave an open quote open, and their length: no line is searched twice.
    searched = characters = 0
    while (line := ahead.popleft() if ahead else next(physical, None)) is not None:
        if searched:
            searched, characters = searched - 1, characters - len(line.text) - 1
        closed = isinstance(line.content, InputError) or _closed(line.text, inside=False)
        while not closed and len(line.text) + 1 + characters <= MAX_CHARACTERS:
            if searched == len(ahead):
                ahead.extend(itertools.islice(physical, 1))
            if searched == len(ahead) or isinstance(ahead[-1].content, InputError):
                break
            if closed := _closed(ahead[-1].text, inside=True):
                line = Line(line.origin, "\n".join(part.text for part in (line, *ahead)))
                ahead.clear()
                searched = characters = 0
            else:
                searched, characters = searched + 1, characters + len(ahead[-1].text) + 1
        unclosed = "a quoted field is not closed; expected a closing quote"
        yield line if closed else Line(line.origin, line.origin.error(unclosed))


def _closed(text: str, *, inside: bool) -> bool:
    """Whether a line ends outside a quoted field, where it begins inside one or not."""
    if '"' not in text:
        return not inside
    reader = csv.reader([('"' if inside else "") + text + "\n", ""], delimiter="\t")
    try:
        next(reader)
    except csv.Error:
        return True  # reported when the row is taken apart
    return reader.line_num == 1  # an open field swallows the empty line, too


def _fields(row: Line) -> list[str]:
    try:
        fields = next(csv.reader([part + "\n" for part in row.text.split("\n")], delimiter="\t"))
    except csv.Error as error:
        raise row.origin.error(f"not a row of TAB-separated fields ({error})") from error
    return [re.sub(r"\s*[\t\n\r]\s*", " ", field) for field in fields]
