"""Rows of CSV, TSV and JSON lines; every kind of bad file is told in one line."""

from __future__ import annotations

import itertools
import logging
from pathlib import Path
from typing import Any

import pytest
from small_tables import INTENTS, write

from paraform.corpora.tables import Dialect, Table, read_table
from paraform.records import InputError


def found(table: Table) -> list[tuple[int, str, dict[str, Any]]]:
    return [(row.origin.line, row.text, dict(row.fields)) for row in table.rows]


def test_csv_rows_have_their_lines_fields_and_texts(tmp_path: Path) -> None:
    table = read_table(write(tmp_path, "intents.csv", INTENTS["intents.csv"]))
    assert (table.columns, table.text_column, table.dialect) == (("id", "text", "label"), "text", Dialect("csv"))
    assert found(table) == [
        (2, 'Hi, "you"!', {"id": "7", "text": 'Hi, "you"!', "label": "greet"}),
        (3, "two lines", {"id": "8", "text": "two\r\nlines", "label": ""}),
        (5, "bye", {"id": "9", "text": " bye ", "label": "leave"}),
    ]


def test_tsv_quotes_nothing(tmp_path: Path) -> None:
    table = read_table(write(tmp_path, "intents.tsv", 'text\tlabel\n"open\t"\n'))
    assert found(table) == [(2, '"open', {"text": '"open', "label": '"'})]


def test_json_lines_keep_their_types_and_each_its_own_keys(tmp_path: Path) -> None:
    table = read_table(write(tmp_path, "intents.jsonl", INTENTS["intents.jsonl"]))
    assert table.columns == ("id", "text", "label")
    assert found(table) == [
        (1, 'Hi, "you"!', {"id": 7, "text": 'Hi, "you"!', "label": "greet"}),
        (2, "two lines", {"text": "two\r\nlines", "id": None, "more": True}),
        (3, "bye", {"id": 0.5, "text": " bye ", "label": "leave"}),
    ]


def test_semicolons_and_lines_that_end_in_cr(tmp_path: Path) -> None:
    table = read_table(write(tmp_path, "a.csv", "text;label\r1,5 m;x\r2 m;y\r"))
    assert found(table) == [(2, "1,5 m", {"text": "1,5 m", "label": "x"}), (3, "2 m", {"text": "2 m", "label": "y"})]
    assert table.dialect == Dialect("csv", ";")


def test_excels_line_says_what_the_delimiter_is(tmp_path: Path) -> None:
    table = read_table(write(tmp_path, "a.csv", 'sep=;\r\ntext;n\r\n"a, b";0,5\r\n'))
    assert (table.columns, table.dialect) == (("text", "n"), Dialect("csv", ";", "\r\n"))
    assert found(table) == [(3, "a, b", {"text": "a, b", "n": "0,5"})]


@pytest.mark.parametrize(
    ("columns", "wanted", "message"),
    [
        (
            "id,label",
            None,
            "no column named text, sentence, utterance, question, source; expected the text column to be named, one of",
        ),
        ("id,label", "text", "no column 'text'; expected one of 'id', 'label'"),
        ("text,Question", None, "columns 'text', 'Question'; expected the text column to be named, one of 'text', "),
        ("text,id,id", None, "2 columns are named 'id'; expected names that differ"),
        ("", None, "a blank line; expected a header"),
        ('text,"label', None, "a quoted field is not closed; expected a closing quote"),
    ],
)
@pytest.mark.parametrize("skip", [False, True])
def test_a_bad_header_is_an_error_at_once(
    columns: str, wanted: str | None, message: str, skip: bool, tmp_path: Path
) -> None:
    path = write(tmp_path, "x.csv", f"{columns}\na,b\n")
    with pytest.raises(InputError) as caught:
        read_table(path, wanted, skip_bad_lines=skip)
    assert str(caught.value).startswith(f"{path}:1: {message}")


def test_the_text_column_is_found_by_its_name(tmp_path: Path) -> None:
    for name in ("Text", "utterance", "QUESTION"):
        assert read_table(write(tmp_path, "x.csv", f"id,{name}\n1,a\n")).text_column == name
        assert read_table(write(tmp_path, "x.jsonl", f'{{"id": 1, "{name}": "a"}}\n')).text_column == name


BAD_ROWS = {
    "fewer": ("csv", b"a\n", "1 field; expected 2, as in the header"),
    "more": ("csv", b"a,b,c\n", "3 fields; expected 2, as in the header"),
    "blank": ("csv", b"\n", "a blank line; expected 2, as in the header"),
    "empty text": ("csv", b" ,x\n", "the column 'text' is empty; expected a sentence"),
    "open quote": ("csv", b'"a,x\n', "a quoted field is not closed; expected a closing quote"),
    "half quoted": ("csv", b'"a" b,x\n', "not a row of comma-separated fields (',' expected after '\"')"),
    "stray CR": ("csv", b"a\rb,x\n", "not a row of comma-separated fields (new-line character seen"),
    "beyond csv": ("csv", b"a," + b"x" * 140_000 + b"\n", "fields (field larger than field limit (131072))"),
    "NUL": ("csv", b"a\0b,x\n", "byte 2 is NUL; expected UTF-8 text"),
    "latin-1": ("csv", b"caf\xe9,x\n", "byte 4 is 0xE9, which is not UTF-8"),
    "surrogate": ("csv", b"a\xed\xa0\x80,x\n", "byte 2 is 0xED, which is not UTF-8"),
    "long row": ("csv", b"a," + b"x" * 1_000_001 + b"\n", "more than 1,000,000 characters in one line"),
    "long text": ("csv", b"word " * 4_001 + b",x\n", "column 'text' has 20,004 characters; expected at most 20,000"),
    "TAB too many": ("tsv", b"a\tb\tc\n", "3 fields; expected 2, as in the header"),
    "blank TSV": ("tsv", b"\n", "1 field; expected 2, as in the header"),
    "no object": ("jsonl", b"[1]\n", "a list; expected an object a line, such as {'text': …}"),
    "no JSON": ("jsonl", b"{'text': 'a'}\n", "not JSON (Expecting property name"),
    "lacking": ("jsonl", b'{"label": "x"}\n', "no column 'text'; expected one of 'label'"),
    "no string": ("jsonl", b'{"text": 7}\n', "column 'text' holds a number; expected a text"),
    "null": ("jsonl", b'{"text": null}\n', "column 'text' holds null; expected a text"),
    "nested": ("jsonl", b'{"text": "a", "tags": ["b"]}\n', "column 'tags' holds a list; expected a text or a number"),
    "deep": ("jsonl", b'{"text": "a", "tags": ' + b"[" * 100_000 + b"\n", "not usable JSON"),
    "digits": ("jsonl", b'{"text": "a", "n": ' + b"9" * 5_000 + b"}\n", "not usable JSON"),
    "twice": ("jsonl", b'{"text": "a", "text": "b"}\n', "two values of one key; expected keys that differ"),
    "NaN": ("jsonl", b'{"text": "a", "n": NaN}\n', "NaN; expected a number that JSON has"),
    "infinite": ("jsonl", b'{"text": "a", "n": 1e999}\n', "column 'n' holds a number beyond all bounds"),
    "JSON NUL": ("jsonl", b'{"text": "a", "b": "\\u0000"}\n', "column 'b' holds a NUL or half a surrogate pair"),
    "half a pair": ("jsonl", b'{"text": "\\ud800"}\n', "column 'text' holds a NUL or half a surrogate pair"),
}
GOOD = {"csv": b"a,x\n", "tsv": b"a\tx\n", "jsonl": b'{"text": "a", "label": "x"}\n'}
HEADERS = {"csv": b"text,label\n", "tsv": b"text\tlabel\n", "jsonl": GOOD["jsonl"]}


@pytest.mark.parametrize("kind", BAD_ROWS)
def test_a_bad_row_is_named_with_its_line_or_skipped_with_a_warning(
    kind: str, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    format, content, message = BAD_ROWS[kind]
    path = write(tmp_path, f"x.{format}", HEADERS[format] + GOOD[format] + content + GOOD[format])
    with pytest.raises(InputError) as caught:
        list(read_table(path).rows)
    assert str(caught.value).startswith(f"{path}:3: ") and message in str(caught.value)
    assert "\n" not in str(caught.value)
    with caplog.at_level(logging.WARNING, "paraform"):
        kept = found(read_table(path, skip_bad_lines=True))
        assert [line for line, _, _ in kept][-2:] == [2, 4]
        assert len(found(read_table(path, skip_bad_lines=True, warn=False))) == len(kept)
    (record,) = caplog.records
    assert record.getMessage().startswith(f"{path}: 1 bad line skipped; the first: {path}:3: ")


@pytest.mark.parametrize("format", GOOD)
def test_a_file_without_a_row(format: str, tmp_path: Path) -> None:
    for content in (b"", b"\xef\xbb\xbf"):
        path = write(tmp_path, f"x.{format}", content)
        with pytest.raises(InputError, match=f"^{path}:1: the file is empty; expected at least one line$"):
            read_table(path)
    if format != "jsonl":
        path = write(tmp_path, f"x.{format}", HEADERS[format])
        with pytest.raises(InputError, match=f"^{path}:1: no rows below the header; expected at least one$"):
            read_table(path)
    with pytest.raises(InputError, match="no such file"):
        read_table(tmp_path / f"none.{format}")


def test_names_that_say_no_format(tmp_path: Path) -> None:
    path = write(tmp_path, "x.txt", "text\na\n")
    with pytest.raises(InputError, match=f"^{path}: no table by its name; expected one that ends in .csv, .tsv, "):
        read_table(path)
    with pytest.raises(InputError, match="format 'xlsx'; expected one of csv, tsv, jsonl"):
        read_table(path, format="xlsx")
    assert found(read_table(path, format="csv")) == [(2, "a", {"text": "a"})]


def test_reading_is_lazy(tmp_path: Path) -> None:
    for format, good in GOOD.items():
        path = write(tmp_path, f"x.{format}", HEADERS[format] + good * 3 + b"bad")
        assert len(list(itertools.islice(read_table(path).rows, 3))) == 3
