"""Quora's own release: quora_duplicate_questions.tsv (Iyer, Dandekar and Csernai 2017)."""

from __future__ import annotations

from collections.abc import Iterator

from paraform.corpora.lines import MAX_CHARACTERS, Line, lines, records, sentence
from paraform.corpora.quoted import fields_of, in_one_line, quoted_rows
from paraform.records import Pair
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
    rows = quoted_rows(lines(path, keep_ends=True), "\t", MAX_CHARACTERS)
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


def _fields(row: Line) -> list[str]:
    return [in_one_line(field) for field in fields_of(row, "\t")]
