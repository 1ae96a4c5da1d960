"""Texts and fields as lines: what comes back, and what is none."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from paraform.neighbours.search_rows import Rows, rows_of
from paraform.records import InputError

TEXT = st.text(st.characters(exclude_categories=["Cs"]))
VALUES = st.one_of(TEXT, st.integers(-(2**63) + 1, 2**63 - 1), st.floats(allow_nan=False, allow_infinity=False))


@given(st.lists(st.tuples(TEXT, st.dictionaries(TEXT, VALUES | st.booleans() | st.none()))))
def test_what_was_given_comes_back(given: list[tuple[str, dict[str, Any]]]) -> None:
    rows = rows_of([text for text, _ in given], [fields for _, fields in given])
    assert [rows.row(number) for number in range(len(given))] == given
    lines = rows.lines.tobytes().decode().split("\n")
    assert lines.pop() == "" and [json.loads(line)["text"] for line in lines] == [text for text, _ in given]


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        (5, "fields of type int; expected a list"),
        ("x", "fields of type str; expected a list"),
        ({"a": 1}, "fields of type dict, whose names would be taken"),
        ([{}], "1 fields for 2 texts; expected those of each text"),
        ([{}, []], "fields of text 2: of type list; expected a dict of names and their values"),
        ([{}, {1: "x"}], "fields of text 2: a name is of type int; expected a string"),
        ([{}, {"a": [1]}], "fields of text 2: 'a' is a list; expected a text, a finite number, true, false or None"),
        ([{}, {"a": float("nan")}], "'a' is nan; expected a text, a finite number"),
        ([{}, {"a": float("inf")}], "'a' is inf; expected"),
        ([{}, {"a": np.int64(3)}], "'a' is a int64; expected"),
        ([{}, {"a": 10**5000}], "'a' is a number beyond 64 bits; expected a smaller one"),
        ([{}, {"a": "half \ud800"}], "fields of text 2: 'a' holds half of a surrogate pair"),
        ([{}, {"\ud800": 1}], "fields of text 2: a name holds half of a surrogate pair"),
    ],
)
def test_what_are_no_fields(fields: Any, said: str) -> None:
    with pytest.raises(InputError, match=said):
        rows_of(["a", "b"], fields)


@pytest.mark.parametrize(
    "line",
    [
        b"",
        b"[1]",
        b'{"text": "a"}',
        b'{"text": 1, "fields": {}}',
        b'{"text": "a", "fields": 3}',
        b'{"text": "a", "fields": {"x": []}}',
        b'{"text": "a", "fields": {"x": NaN}}',
        b'{"text": "\\ud800", "fields": {}}',
        b'{"text": "a", "fields": {}, "more": 1}',
        b'{"text": "\xff", "fields": {}}',
        b"[" * 5000,
        b'{"text": "a", "fields": {"x": ' + b"1" * 5000 + b"}}",
    ],
)
def test_lines_that_nobody_wrote(line: bytes) -> None:
    rows = Rows(np.frombuffer(line, np.uint8), np.array([0, len(line)]))
    with pytest.raises(InputError, match="row 0 of a damaged index") as caught:
        rows.row(0)
    assert len(str(caught.value)) < 300
