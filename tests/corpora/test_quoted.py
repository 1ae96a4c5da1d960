"""Rows over several lines; test_quora.py and test_tables.py read files of them."""

from __future__ import annotations

import csv
from collections.abc import Iterator

from hypothesis import given
from hypothesis import strategies as st

from paraform.corpora.lines import Line
from paraform.corpora.quoted import quoted_rows
from paraform.records import InputError, Origin


def brute(body: str) -> Iterator[tuple[int, int, bool]]:
    """The first and the last line of each row, the shortest whose quotes are closed, else one; and if they are."""
    lines = body.split("\n")[:-1]
    first = 0
    while first < len(lines):
        last, length = first, 0
        while True:
            reader = csv.reader([*(line + "\n" for line in lines[first : last + 1]), ""], delimiter="\t")
            try:
                next(reader)
                closed = reader.line_num == last - first + 1
            except csv.Error:
                closed = True
            length += len(lines[last]) + 1
            if closed or last + 1 == len(lines) or length > 20:
                break
            last += 1
        last = last if closed else first
        yield first, last, closed
        first = last + 1


@given(st.lists(st.text(st.sampled_from('a"\t\r'), max_size=8), min_size=1, max_size=12))
def test_rows_are_those_of_a_search_from_each_line(lines: list[str]) -> None:
    body = "".join(f"{line}\n" for line in lines)
    physical = (Line(Origin("q", number), f"{line}\n") for number, line in enumerate(lines))
    rows = list(quoted_rows(physical, "\t", 20))
    found = [(row.origin.line, None if isinstance(row.content, InputError) else row.content) for row in rows]
    for first, last, closed in brute(body):
        assert found.pop(0) == (first, "".join(f"{line}\n" for line in lines[first : last + 1]) if closed else None)
    assert not found
