"""A small file as Quora published it: header, quoted fields, doubled quotes, rows over several lines."""

from __future__ import annotations

import csv
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from paraform import corpora
from paraform.records import InputError, Pair

HEADER = "id\tqid1\tqid2\tquestion1\tquestion2\tis_duplicate\n"


def read(folder: Path, body: str, skip: bool = False) -> list[tuple[str, str, int | None, int]]:
    path = folder / "quora_duplicate_questions.tsv"
    path.write_text(HEADER + body, newline="")
    found = []
    for pair in corpora.read(path, "quora", skip_bad_lines=skip):
        assert isinstance(pair, Pair) and pair.origin
        found.append((pair.source.text, pair.target.text, pair.label, pair.origin.line))
    return found


def test_quotes_line_breaks_and_physical_lines(tmp_path: Path) -> None:
    body = (
        "0\t1\t2\tWhat is it?\tWhat was it?\t0\n"
        '1\t3\t4\t"What does ""it"" mean?"\tIs 5" long?\t1\n'
        '2\t5\t6\t"First line.\n\nThird line: why?"\t"With\ta TAB?"\t1\n'
        "3\t7\t8\tAfter?\tLater?\t0\r\n"
    )
    assert read(tmp_path, body) == [
        ("What is it?", "What was it?", 0, 2),
        ('What does "it" mean?', 'Is 5" long?', 1, 3),
        ("First line. Third line: why?", "With a TAB?", 1, 4),
        ("After?", "Later?", 0, 7),
    ]


def test_an_open_quote_spoils_one_line_only(tmp_path: Path) -> None:
    body = '0\t1\t2\t"Open?\tb?\t1\n' + "1\t3\t4\tc?\td?\t1\n" * 3
    with pytest.raises(InputError, match=":2: a quoted field is not closed"):
        read(tmp_path, body)
    assert [row[3] for row in read(tmp_path, body, skip=True)] == [3, 4, 5]


def test_an_open_quote_before_a_bad_byte(tmp_path: Path) -> None:
    path = tmp_path / "q.tsv"
    path.write_bytes(HEADER.encode() + b'0\t1\t2\t"Open\tb\t1\n\xff\n0\t1\t2\ta\tb\t1\n')
    (pair,) = corpora.read(path, "quora", skip_bad_lines=True)
    assert pair.origin and pair.origin.line == 4


def test_no_line_is_searched_twice_for_a_closing_quote(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of lines that close a quote and open another, each begins a row, is looked at as another's end, and is read."""
    read_by = csv.reader
    characters = 0

    def counted(lines: Iterable[str], **how: Any) -> Any:
        nonlocal characters
        lines = list(lines)
        characters += sum(map(len, lines))
        return read_by(lines, **how)

    body = 'a"\t"\n' * 6_000
    path = tmp_path / "q.tsv"
    path.write_text(HEADER + "0\t1\t2\ta\tb\t1\n" + body)
    monkeypatch.setattr(csv, "reader", counted)
    (pair,) = corpora.read(path, "quora", skip_bad_lines=True)
    assert pair.origin and pair.origin.line == 2 and characters < 4 * path.stat().st_size


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ("0\t1\t2\ta\tb\n", "5 columns; expected 6, as in the header"),
        ("0\t1\t2\ta\tb\t2\n", "is_duplicate is '2'; expected 0 or 1"),
        ("0\t1\t2\ta\t\t0\n", "the question2 is empty; expected a sentence"),
        ("0\t1\t2\ta\rc\tb\t0\n", "not a row of TAB-separated fields"),
    ],
)
def test_bad_rows(tmp_path: Path, row: str, message: str) -> None:
    good = "0\t1\t2\ta\tb\t1\n"
    with pytest.raises(InputError, match=f":3: {message}"):
        read(tmp_path, good + row + good)
    assert [found[3] for found in read(tmp_path, good + row + good, skip=True)] == [2, 4]


@pytest.mark.parametrize("skip", [False, True])
def test_a_file_without_the_header_is_an_error(tmp_path: Path, skip: bool) -> None:
    path = tmp_path / "pairs.tsv"
    path.write_text("a\tb\n")
    with pytest.raises(InputError, match=":1: no column 'question1' in the header; expected id, qid1,"):
        list(corpora.read(path, "quora", skip_bad_lines=skip))


def test_columns_are_found_by_name(tmp_path: Path) -> None:
    path = tmp_path / "q.tsv"
    path.write_text("is_duplicate\tquestion2\tquestion1\n1\tb\ta\n")
    (pair,) = corpora.read_quora(path)
    assert (pair.source.text, pair.target.text, pair.label) == ("a", "b", 1)


QUESTIONS = st.text(st.sampled_from('ab "\n\t'), min_size=1, max_size=12).filter(str.strip)


@given(st.lists(st.tuples(QUESTIONS, QUESTIONS, st.sampled_from("01")), min_size=1, max_size=8))
def test_what_a_csv_writer_writes_is_read_back(
    tmp_path_factory: pytest.TempPathFactory, rows: list[tuple[str, str, str]]
) -> None:
    path = tmp_path_factory.mktemp("quora") / "q.tsv"
    starts = []
    with open(path, "w", newline="") as file:
        file.write(HEADER)
        writer = csv.writer(file, delimiter="\t", lineterminator="\n")
        for number, (first, second, label) in enumerate(rows):
            starts.append(path.read_text().count("\n") + 1 if not file.flush() else 0)
            writer.writerow([number, 1, 2, first, second, label])
    pairs = list(corpora.read_quora(path))
    assert [pair.origin.line for pair in pairs if pair.origin] == starts
    for pair, (first, second, label) in zip(pairs, rows, strict=True):
        assert pair.source.text.split() == first.split()
        assert pair.target.text.split() == second.split()
        assert pair.label == int(label)
