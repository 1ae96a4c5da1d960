"""Rows of CSV, TSV and JSON lines: what comes in goes out, and every kind of bad file is told in one line."""

from __future__ import annotations

import csv
import itertools
import json
import logging
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from paraform.corpora.tables import Dialect, Row, Table, changed, dialect_for, read_table, table_lines, write_table
from paraform.records import InputError, Origin


def write(folder: Path, name: str, content: str | bytes) -> Path:
    path = folder / name
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


def found(table: Table) -> list[tuple[int, str, dict[str, Any]]]:
    return [(row.origin.line, row.text, dict(row.fields)) for row in table.rows]


INTENTS = {
    "intents.csv": 'id,text,label\n7,"Hi, ""you""!",greet\n8,"two\r\nlines",\n9, bye ,leave\n',
    "intents.tsv": 'id\ttext\tlabel\n7\tHi, "you"!\tgreet\n8\ttwo lines\t\n9\t bye \tleave\n',
    "intents.jsonl": '{"id": 7, "text": "Hi, \\"you\\"!", "label": "greet"}\n'
    '{"text": "two\\r\\nlines", "id": null, "more": true}\n{"id": 0.5, "text": " bye ", "label": "leave"}\n',
}


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


@pytest.mark.parametrize("name", INTENTS)
@pytest.mark.parametrize("mark", [False, True])
@pytest.mark.parametrize("line_end", ["\n", "\r\n"])
def test_a_table_is_written_as_it_was_read(tmp_path: Path, name: str, mark: bool, line_end: str) -> None:
    content = INTENTS[name].replace("\r\n", "\0").replace("\n", line_end).replace("\0", "\r\n")
    path = write(tmp_path, name, ("\ufeff" if mark else "") + content)
    table = read_table(path)
    assert write_table(table.rows, tmp_path / f"again-{name}", table.columns, table.dialect) == 3
    assert (tmp_path / f"again-{name}").read_bytes() == path.read_bytes()


def test_semicolons_and_lines_that_end_in_cr(tmp_path: Path) -> None:
    table = read_table(write(tmp_path, "a.csv", "text;label\r1,5 m;x\r2 m;y\r"))
    assert found(table) == [(2, "1,5 m", {"text": "1,5 m", "label": "x"}), (3, "2 m", {"text": "2 m", "label": "y"})]
    assert table.dialect == Dialect("csv", ";")


def test_excels_line_says_what_the_delimiter_is(tmp_path: Path) -> None:
    content = 'sep=;\r\ntext;n\r\n"a, b";0,5\r\n'
    path = write(tmp_path, "a.csv", content)
    table = read_table(path)
    assert (table.columns, table.dialect) == (("text", "n"), Dialect("csv", ";", "\r\n"))
    rows = list(table.rows)
    assert [(row.origin.line, dict(row.fields)) for row in rows] == [(3, {"text": "a, b", "n": "0,5"})]
    write_table(rows, tmp_path / "b.csv", table.columns, table.dialect, read=table)
    assert (tmp_path / "b.csv").read_bytes() == content.encode()


FIELDS = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=9)
NASTY = st.text(st.sampled_from("a \",;\t\r\n'\\#"), max_size=6) | FIELDS
NAMES = st.lists(st.text(st.sampled_from('ab ",;\n'), min_size=1, max_size=4), min_size=1, max_size=4, unique=True)


@settings(max_examples=50)
@given(NAMES, st.data(), st.sampled_from(["csv", "jsonl", "tsv"]), st.sampled_from([",", ";", "\t"]), st.booleans())
def test_what_is_written_is_read_back(
    tmp_path_factory: pytest.TempPathFactory, names: list[str], data: st.DataObject, format: str, other: str, mark: bool
) -> None:
    fields: st.SearchStrategy[Any] = NASTY
    if format == "tsv" or other != ",":  # of a header over several lines the first has to tell the delimiter
        names = list(dict.fromkeys(name.replace("\n", "_") for name in names))
    if format == "tsv":
        fields = FIELDS.map(lambda text: "".join(" " if letter in "\t\r\n" else letter for letter in text))
    if format == "jsonl":
        fields = NASTY | st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False)
    texts = fields.filter(lambda value: isinstance(value, str) and bool(value.strip()))
    drawn = data.draw(st.lists(st.tuples(texts, *[fields] * (len(names) - 1)), min_size=1, max_size=4))
    rows = [Row(dict(zip(names, row, strict=True)), "", Origin("x", 1)) for row in drawn]
    dialect = Dialect(format, other if format == "csv" and len(names) > 1 else ",", data.draw(ENDS), mark)
    path = tmp_path_factory.mktemp("table") / "table"
    assert write_table(rows, path, names, dialect) == len(rows)
    table = read_table(path, names[0], format)
    assert table.columns == tuple(names)
    assert [row.fields for row in table.rows] == [row.fields for row in rows]
    if format == "csv":  # as another reader of CSV reads it
        assert table.dialect.mark == mark and (len(names) == 1 or table.dialect.delimiter == other)
        with open(path, encoding="utf-8-sig", newline="") as file:
            assert list(csv.reader(file, delimiter=table.dialect.delimiter))[1:] == [list(row) for row in drawn]


ENDS = st.sampled_from(["\n", "\r\n"])
CELLS = st.sampled_from(["a", '"b, ""c"" d"', "0.70", "1e3", '"quoted"', " two ", "", "a 'b'", '"line\nbreak"', "é"])
NUMBERS = st.sampled_from(["0.70", "1e3", "1234567890123456789", "-0.0", "null", "true", '"a\\u00e9"', '"b"', "1E-2"])


@settings(max_examples=334)
@given(st.lists(st.tuples(CELLS, CELLS), min_size=1, max_size=5), ENDS, st.booleans(), st.sampled_from([",", ";"]))
def test_lines_of_csv_are_copied_byte_for_byte(
    tmp_path_factory: pytest.TempPathFactory, cells: list[tuple[str, str]], end: str, last: bool, delimiter: str
) -> None:
    rows = ["text,n,label", *(f"x y,{one},{other}" for one, other in cells)]
    _copied(tmp_path_factory, "a.csv", end.join(row.replace(",", delimiter) for row in rows) + end * last, end)


@settings(max_examples=333)
@given(st.lists(st.text(st.sampled_from("ab '\"#,;\\"), max_size=5), min_size=1, max_size=5), ENDS, st.booleans())
def test_lines_of_tsv_are_copied_byte_for_byte(
    tmp_path_factory: pytest.TempPathFactory, cells: list[str], end: str, last: bool
) -> None:
    _copied(tmp_path_factory, "a.tsv", end.join(["text\tn", *(f" x y\t{cell}" for cell in cells)]) + end * last, end)


@settings(max_examples=333)
@given(
    st.lists(st.tuples(NUMBERS, NUMBERS, st.sampled_from(["", " ", "  "])), min_size=1, max_size=5), ENDS, st.booleans()
)
def test_lines_of_json_are_copied_byte_for_byte(
    tmp_path_factory: pytest.TempPathFactory, drawn: list[tuple[str, str, str]], end: str, last: bool
) -> None:
    """And of a row with another text all else is."""
    rows = [
        f'{{{blank}"n":{one},{blank}"text": "x \\u00e9",{blank}"m" :{other}{blank}}}' for one, other, blank in drawn
    ]
    table = _copied(tmp_path_factory, "a.jsonl", end.join(rows) + end * last, end)
    for row, line in zip(table.rows, rows, strict=True):
        other = changed(row, {"text": 'so "it" is'}, table.dialect)
        assert other.line.rstrip("\r\n") == line.replace("x \\u00e9", 'so \\"it\\" is')
        assert json.loads(other.line) == {**row.fields, "text": 'so "it" is'}


def _copied(factory: pytest.TempPathFactory, name: str, content: str, end: str) -> Table:
    path = write(factory.mktemp("table"), name, content)
    table, again = read_table(path), path.with_name(f"again-{name}")
    write_table(table.rows, again, table.columns, table.dialect, read=table)
    assert again.read_bytes() == content.encode()
    marked = (Row({**row.fields, 'm"': 'é, "'}, "", row.origin, row.line) for row in read_table(path).rows)
    write_table(marked, again.with_name(f"m-{name}"), [*table.columns, 'm"'], table.dialect, read=table)
    assert [row.fields['m"'] for row in read_table(again.with_name(f"m-{name}")).rows][:1] == ['é, "']
    return read_table(path)


def test_csv_to_json_lines_and_back(tmp_path: Path) -> None:
    path = write(tmp_path, "intents.csv", INTENTS["intents.csv"])
    table = read_table(path)
    write_table(table.rows, tmp_path / "x.jsonl", table.columns, dialect_for("x.jsonl", table.dialect))
    assert json.loads((tmp_path / "x.jsonl").read_text().splitlines()[0]) == {
        "id": "7",
        "text": 'Hi, "you"!',
        "label": "greet",
    }
    table = read_table(tmp_path / "x.jsonl")
    write_table(table.rows, tmp_path / "back.csv", table.columns, dialect_for("back.csv", table.dialect))
    assert (tmp_path / "back.csv").read_bytes() == path.read_bytes()


def test_what_json_has_and_csv_has_not() -> None:
    rows = [Row({"text": "a", "n": 1.5, "yes": True, "none": None}, "a", Origin("x", 1))]
    lines = list(table_lines(rows, ["text", "n", "yes", "none", "more"], Dialect("csv")))
    assert lines == ["text,n,yes,none,more\n", "a,1.5,true,,\n"]
    with pytest.raises(InputError, match=r"^x:1: column 'n' is not in the first row; JSON lines could hold it"):
        list(table_lines(rows, ["text", "yes", "none"], Dialect("csv")))


@pytest.mark.parametrize("field", ["a\tb", "a\nb", "b\r"])
def test_what_tsv_cannot_hold(field: str, tmp_path: Path) -> None:
    rows = [Row({"text": "good"}, "", Origin("x", 1)), Row({"text": field}, "", Origin("x", 2))]
    with pytest.raises(InputError, match=r"^x:2: a TAB or a line break in .*; expected none in TSV"):
        write_table(rows, tmp_path / "x.tsv", ["text"], Dialect("tsv"))
    assert not list(tmp_path.iterdir())


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


def test_real_intents_are_written_as_they_were_read(data: Path, tmp_path: Path) -> None:
    path = data / "banking77" / "train.csv"
    table = read_table(path, "text")
    assert table.columns == ("text", "category")
    assert write_table(table.rows, tmp_path / "again.csv", table.columns, table.dialect) > 9_000
    with open(path, encoding="utf-8", newline="") as read, open(tmp_path / "again.csv", newline="") as written:
        assert list(csv.reader(read)) == list(csv.reader(written))
