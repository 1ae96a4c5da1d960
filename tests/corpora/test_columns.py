"""Corpora with columns: what a file held comes back by row number, and what cannot be used is told by its row."""

from __future__ import annotations

import datetime
import json
import logging
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from paraform.corpora.columns import ArrowColumns, read_columns, text_alone, write_columns
from paraform.records import InputError


def through(path: Path, tmp_path: Path, *given: Any, **options: Any) -> ArrowColumns:
    write_columns(read_columns(path, *given, **options), tmp_path / "corpus.arrow")
    return ArrowColumns(tmp_path / "corpus.arrow")


def test_parquet_comes_back_as_it_was(tmp_path: Path) -> None:
    """Nested columns, times and categories too, over several batches; the text alone is put into one line."""
    count = 5000
    table = pa.table(
        {
            "id": pa.array(range(count), pa.int16()),
            "text": pa.array([f" a\nb {number} " for number in range(count)], pa.large_string()),
            "nested": pa.array([None, {"x": [1, 2]}] * (count // 2)),
            "time": pa.array([datetime.datetime(2020, 1, 1)] * count, pa.timestamp("ns")),
            "category": pa.array(["u", "v"] * (count // 2)).dictionary_encode(),
        },
        metadata={"huggingface": "{}", "mine": "kept"},
    )
    pq.write_table(table, tmp_path / "a.parquet")
    data = through(tmp_path / "a.parquet", tmp_path)
    assert len(data) == count and data.names == table.schema.names
    assert data.texts(4094, 4099) == [f"a b {number}" for number in range(4094, 4099)]
    expected = pq.read_table(tmp_path / "a.parquet")
    found = data.columns(0, count)
    assert found.schema.equals(expected.schema) and found.to_pylist() == expected.to_pylist()
    assert found.schema.metadata == {b"mine": b"kept"}  # the hub's own names all columns: one more is an error there


def test_json_lines_have_one_type_a_column(tmp_path: Path) -> None:
    rows = [{"text": "a", "n": 1, "k": None}, {"text": "b", "n": 0.5, "late": True}, {"k": None, "text": "c", "n": 2}]
    (tmp_path / "a.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    data = through(tmp_path / "a.jsonl", tmp_path)
    assert data.texts(0, 3) == ["a", "b", "c"]
    every = dict.fromkeys(["text", "n", "k", "late"])
    assert data.columns(0, 3).to_pylist() == [every | row for row in rows]
    types = dict(zip(data.names, data.columns(0, 0).schema.types, strict=True))
    assert types == {"text": pa.string(), "n": pa.float64(), "k": pa.string(), "late": pa.bool_()}


def test_other_formats_are_text_alone_or_tables_by_their_text_column(tmp_path: Path) -> None:
    (tmp_path / "a.tsv").write_text("q\tid\nwhy so\t7\n")
    data = through(tmp_path / "a.tsv", tmp_path, "pairs")
    assert (data.names, data.texts(0, 9)) == ([], ["q", "why so"])
    data = through(tmp_path / "a.tsv", tmp_path, "text", "q")
    assert (data.texts(0, 9), data.columns(0, 9).to_pylist()) == (["why so"], [{"q": "why so", "id": "7"}])


def test_bad_rows_can_be_skipped(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    pq.write_table(pa.table({"text": ["a", None, " ", "b\0", "c"], "id": range(5)}), tmp_path / "a.parquet")
    with caplog.at_level(logging.WARNING, "paraform"):
        data = through(tmp_path / "a.parquet", tmp_path, skip_bad_lines=True)
    assert data.columns(0, 9).to_pylist() == [{"text": "a", "id": 0}, {"text": "c", "id": 4}]
    assert "3 bad lines skipped; the first: " in caplog.text and "a.parquet:2: column 'text' holds null" in caplog.text


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("a.parquet", b"PAR1 no more PAR1", r"a\.parquet: .*; expected a Parquet file$"),
        ("a.parquet", b"", r"a\.parquet: .*; expected a Parquet file$"),
        ("a.parquet", {"text": [1]}, r"a\.parquet:1: column 'text' holds a number; expected a text"),
        ("a.parquet", {"text": [["a"]]}, r"a\.parquet:1: column 'text' holds a list"),
        ("a.parquet", {"text": ["a", ""]}, r"a\.parquet:2: the column 'text' is empty"),
        ("a.parquet", {"text": ["a", "b\0"]}, r"a\.parquet:2: column 'text' holds a NUL"),
        ("a.parquet", {"text": ["x" * 20_001]}, r"a\.parquet:1: .*20,001 characters"),
        ("a.parquet", {"body": ["a"]}, r"a\.parquet:1: no column named text, .*one of 'body'"),
        ("a.parquet", {"text": pa.array([], pa.string())}, r"a\.parquet: no rows; expected at least one"),
        ("a.parquet", {"text": pa.array([b"\xff"]).cast(pa.string(), safe=False)}, r"a\.parquet: .*utf-8"),
        (
            "a.jsonl",
            b'{"text": "a", "n": 1}\n{"text": "b", "n": "1"}\n',
            r"a\.jsonl:2: .*'n' holds a text, rows before",
        ),
        ("a.jsonl", b'{"text": "a", "n": 9223372036854775808}\n', r"a\.jsonl:1: .*'n' holds a number beyond 64 bits"),
        ("a.jsonl", b'{"text": "a", "n": {"x": 1}}\n', r"a\.jsonl:1: column 'n' holds an object"),
        ("a.jsonl", b"{}\n", r"a\.jsonl:1: no column named text"),
    ],
)
def test_what_cannot_be_read_is_one_line(name: str, content: Any, said: str, tmp_path: Path) -> None:
    path = tmp_path / name
    if isinstance(content, bytes):
        path.write_bytes(content)
    else:
        pq.write_table(pa.table(content), path)
    with pytest.raises(InputError, match=said) as raised:
        through(path, tmp_path)
    assert "\n" not in str(raised.value)
    assert not (tmp_path / "corpus.arrow").exists()


def test_a_parquet_file_whose_pages_are_damaged(tmp_path: Path) -> None:
    pq.write_table(pa.table({"text": [f"text {number}" for number in range(9)]}), tmp_path / "a.parquet")
    content = bytearray((tmp_path / "a.parquet").read_bytes())
    content[4:60] = b"\xff" * 56
    (tmp_path / "a.parquet").write_bytes(content)
    with pytest.raises(InputError, match=r"a\.parquet: .*; expected a Parquet file$"):
        through(tmp_path / "a.parquet", tmp_path)


def test_an_arrow_file_that_is_none(tmp_path: Path) -> None:
    (tmp_path / "a.arrow").write_bytes(b"ARROW?")
    with pytest.raises(InputError, match=r"a\.arrow: .*; expected an Arrow file of a corpus"):
        ArrowColumns(tmp_path / "a.arrow")


def test_rows_in_any_order(tmp_path: Path) -> None:
    """Over the ends of record batches, of which there are three, and one row twice."""
    path = tmp_path / "a.arrow"
    write_columns(text_alone(f"text {number}" for number in range(9000)), path)
    rows = np.array([8999, 0, 4096, 4095, 0, 8192, 17])
    assert ArrowColumns(path).take(rows) == {"text": [f"text {number}" for number in rows]}
    assert ArrowColumns(path).take(rows[:0]) == {"text": []}
