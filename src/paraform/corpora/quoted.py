"""Rows whose fields may be quoted, and hold delimiters and line breaks then: of CSV, and of Quora's TSV."""

from __future__ import annotations

import csv
import itertools
import re
from collections import deque
from collections.abc import Iterator

from paraform.corpora.lines import Line
from paraform.records import InputError


def quoted_rows(physical: Iterator[Line], delimiter: str, max_characters: int) -> Iterator[Line]:
    """Rows of one or more physical lines, which have kept their line breaks; the origin is the first one's.

    A quote that no line within `max_characters` closes spoils only the line it stands in.
    """
    ahead: deque[Line] = deque()
    # How many of those, from the first on, leave an open quote open, and their length: no line is searched twice.
    searched = characters = 0
    while (line := ahead.popleft() if ahead else next(physical, None)) is not None:
        if searched:
            searched, characters = searched - 1, characters - len(line.text)
        closed = isinstance(line.content, InputError) or _closed(line.text, delimiter, inside=False)
        while not closed and len(line.text) + characters <= max_characters:
            if searched == len(ahead):
                ahead.extend(itertools.islice(physical, 1))
            if searched == len(ahead) or isinstance(ahead[-1].content, InputError):
                break
            if closed := _closed(ahead[-1].text, delimiter, inside=True):
                line = Line(line.origin, "".join(part.text for part in (line, *ahead)))
                ahead.clear()
                searched = characters = 0
            else:
                searched, characters = searched + 1, characters + len(ahead[-1].text)
        unclosed = "a quoted field is not closed; expected a closing quote"
        yield line if closed else Line(line.origin, line.origin.error(unclosed))


def fields_of(row: Line, delimiter: str, *, strict: bool = False) -> list[str]:
    """The fields of such a row; [] of a blank line.

    Args:
        strict: whether what follows a closing quote within its field is an error; otherwise it is part of the field,
            and the quotes are lost.
    Raises: InputError for what csv cannot take apart, such as a field beyond its limit.
    """
    try:
        return next(csv.reader([row.text], delimiter=delimiter, strict=strict))
    except csv.Error as error:
        name = {"\t": "TAB", ",": "comma", ";": "semicolon"}[delimiter]
        raise row.origin.error(f"not a row of {name}-separated fields ({error})") from error


def in_one_line(field: str) -> str:
    """A field with a space in the place of each TAB or line break."""
    return re.sub(r"\s*[\t\n\r]\s*", " ", field)


def _closed(text: str, delimiter: str, *, inside: bool) -> bool:
    """Whether a line ends outside a quoted field, where it begins inside one or not."""
    if '"' not in text:
        return not inside
    reader = csv.reader([('"' if inside else "") + text.removesuffix("\n") + "\n", ""], delimiter=delimiter)
    try:
        next(reader)
    except csv.Error:
        return True  # reported when the row is taken apart
    return reader.line_num == 1  # an open field swallows the empty line, too
