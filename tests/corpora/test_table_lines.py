"""Tables written: what comes in goes out, and lines that were read stay the lines they were."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from small_tables import INTENTS, write

from paraform.corpora.table_lines import changed, dialect_for, table_lines, write_table
from paraform.corpora.tables import Dialect, Row, Table, read_table
from paraform.records import InputError, Origin


@pytest.mark.parametrize("name", INTENTS)
@pytest.mark.parametrize("mark", [False, True])
@pytest.mark.parametrize("line_end", ["\n", "\r\n"])
def test_a_table_is_written_as_it_was_read(tmp_path: Path, name: str, mark: bool, line_end: str) -> None:
    content = INTENTS[name].replace("\r\n", "\0").replace("\n", line_end).replace("\0", "\r\n")
    path = write(tmp_path, name, ("\ufeff" if mark else "") + content)
    table = read_table(path)
    assert write_table(table.rows, tmp_path / f"again-{name}", table.columns, table.dialect) == 3
    assert (tmp_path / f"again-{name}").read_bytes() == path.read_bytes()


def test_excels_line_stays(tmp_path: Path) -> None:
    path = write(tmp_path, "a.csv", 'sep=;\r\ntext;n\r\n"a, b";0,5\r\n')
    table = read_table(path)
    write_table(table.rows, tmp_path / "b.csv", table.columns, table.dialect, read=table)
    assert (tmp_path / "b.csv").read_bytes() == path.read_bytes()


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


def test_real_intents_are_written_as_they_were_read(data: Path, tmp_path: Path) -> None:
    path = data / "banking77" / "train.csv"
    table = read_table(path, "text")
    assert table.columns == ("text", "category")
    assert write_table(table.rows, tmp_path / "again.csv", table.columns, table.dialect) > 9_000
    with open(path, encoding="utf-8", newline="") as read, open(tmp_path / "again.csv", newline="") as written:
        assert list(csv.reader(read)) == list(csv.reader(written))
