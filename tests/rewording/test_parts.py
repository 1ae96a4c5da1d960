"""The sentences of a text, and where they stand."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from paraform.rewording.parts import parts_of, sentences_of


@pytest.mark.parametrize(
    ("text", "sentences"),
    [
        ("One is here.  Is two?\nThree", ["One is here.", "Is two?", "Three"]),
        (" \n ", []),
        ("Can I pay approx. 5 dollars to Acme Inc. today?", ["Can I pay approx. 5 dollars to Acme Inc. today?"]),
        ("what is it ? where is it", ["what is it ?", "where is it"]),
        ("It works.Really? yes", ["It works.Really?", "yes"]),
        ("Yahoo! is big. It is.", ["Yahoo! is big.", "It is."]),
        (
            "Dear Bob,\nI want my\norder 5. Thanks!\nTom",
            ["Dear Bob,", "I want my\norder 5.", "Thanks!", "Tom"],
        ),
        ("# Title\n\n- one. Two\n* three\n2) Go?\n> - deep", ["Title", "one. ", "Two", "three", "Go?", "deep"]),
        ("Is {{ a. B }} here? Yes.", ["Is {{ a. B }} here?", "Yes."]),
        ('He said "Go." Then he left.', ['He said "Go."', "Then he left."]),
        ("One\r\n\r\ntwo", ["One", "two"]),
        ("Hi,\ncan you help me?", ["Hi,", "can you help me?"]),
        ("i need help\nhow do i change my pin?", ["i need help", "how do i change my pin?"]),
    ],
)
def test_by_hand(text: str, sentences: list[str]) -> None:
    assert sentences_of(text) == [sentence.strip() for sentence in sentences]


@given(st.text(st.sampled_from("aB .?!\n-#1{}\"'\r\t"), max_size=40))
def test_nothing_but_marks_and_white_space_stands_between(text: str) -> None:
    spans = parts_of(text)
    ends = [0, *(end for _, end in spans)]
    starts = [*(start for start, _ in spans), len(text)]
    assert not set("".join(text[end:start] for end, start in zip(ends, starts, strict=True))) & set("B{}?'\"")
    assert all(text[start:end].strip() == text[start:end] != "" for start, end in spans)
