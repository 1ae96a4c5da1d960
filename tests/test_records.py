from __future__ import annotations

import json
import pickle
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from paraform.records import InputError, Origin, Pair, Record, Sentence, Triple, from_json, require_texts, to_json

words = st.lists(st.text(min_size=1), min_size=1).map(tuple)
sentences = st.one_of(
    st.builds(Sentence, st.text()),
    st.builds(Sentence, st.text(), words, st.just(()), st.none() | st.text()),
    words.map(lambda tokens: Sentence(" ".join(tokens), tokens, ("NN",) * len(tokens), "(NN x)")),
)
numbers = st.none() | st.integers()
records = st.one_of(
    sentences,
    st.builds(Pair, sentences, sentences, numbers, st.none() | st.floats(allow_nan=False), numbers),
    st.builds(Triple, sentences, sentences, sentences, numbers, numbers),
)


@given(records)
def test_there_and_back(record: Record) -> None:
    assert from_json(json.loads(json.dumps(to_json(record)))) == record


def test_what_is_written() -> None:
    assert to_json(Pair(Sentence("a"), Sentence("b", ("b",)), cluster=0)) == {
        "source": "a",
        "target": {"text": "b", "tokens": ["b"]},
        "cluster": 0,
    }
    assert from_json("just text") == Sentence("just text")


def test_origin_is_no_part_of_a_record() -> None:
    place = Origin("file.tsv", 3)
    assert Sentence("a", origin=place) == Sentence("a")
    assert str(place.error("what is wrong")) == "file.tsv:3: what is wrong"
    read = from_json({"source": "a", "target": "b"}, place)
    assert isinstance(read, Pair) and read.source.origin == read.origin == place
    assert pickle.loads(pickle.dumps(read)).origin == place  # workers of a data engine send records to each other


@pytest.mark.parametrize(
    "value",
    [
        5,
        None,
        ["a"],
        {},
        {"text": 5},
        {"text": "a", "more": 1},
        {"text": "a", "tokens": "a"},
        {"text": "a", "tokens": [1]},
        {"text": "a b", "tokens": ["a", "b"], "tags": ["NN"]},
        {"text": "a", "tree": 5},
        {"source": "a"},
        {"target": "a"},
        {"source": "a", "target": 5},
        {"source": "a", "target": "b", "label": "1"},
        {"source": "a", "target": "b", "score": "high"},
        {"source": "a", "target": "b", "label": True},
        {"source": "a", "target": "b", "distance": 1},
        {"source": "a", "exemplar": "e", "target": "b", "label": 1},
    ],
)
def test_what_is_no_record(value: Any) -> None:
    with pytest.raises(InputError, match=r"^file\.jsonl:7: [^\n]+$"):
        from_json(value, Origin("file.jsonl", 7))


def test_texts_may_come_from_anywhere_and_are_looked_at() -> None:
    for texts in (["a", "é"], ("a", "é"), np.array(["a", "é"]), iter(["a", "é"]), {"a": 1, "é": 2}.keys()):
        assert require_texts(texts) == ["a", "é"]
    assert require_texts([]) == []
    wrong: Any
    for wrong, message in (
        ("ab", "a string where a list of texts is expected; write [text]"),
        (["a", None], "text 2 is of type NoneType; expected a string"),
        (["a", b"b"], "text 2 is of type bytes; expected a string"),
        ({"a": 1}, "texts of type dict, whose names would be taken; write texts.values()"),
        ({"a"}, "texts of type set, which have no order; write sorted(texts)"),
        (["\udce9"], "text 1 holds half of a surrogate pair; expected what UTF-8 can write: read it in its encoding"),
    ):
        with pytest.raises(InputError) as caught:
            require_texts(wrong)
        assert str(caught.value) == message


def test_a_name_that_is_no_field_is_cut() -> None:
    with pytest.raises(InputError, match=f"unknown field '{'x' * 80}'; expected") as caught:
        from_json({"text": "a", "x" * 10_000: 1})
    assert len(str(caught.value)) < 200
