from __future__ import annotations

import resource
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from paraform import corpora
from paraform.records import InputError, Origin, Pair, Record, Sentence, Triple

TEXTS = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), min_size=1).filter(str.strip)
WORDS = st.lists(st.text("ab", min_size=1), max_size=3).map(tuple)
SENTENCES = st.builds(Sentence, TEXTS, WORDS, tree=st.none() | st.just("(ROOT (NN a))"))
NUMBERS = st.none() | st.integers(0, 9)
SCORES = st.none() | st.floats(allow_nan=False, allow_infinity=False)
RECORDS = (
    SENTENCES
    | st.builds(Pair, SENTENCES, SENTENCES, NUMBERS, SCORES, NUMBERS)
    | st.builds(Triple, SENTENCES, SENTENCES, SENTENCES, NUMBERS, NUMBERS)
)


@given(st.lists(RECORDS, min_size=1, max_size=5))
def test_what_is_written_is_read_back(tmp_path_factory: pytest.TempPathFactory, written: list[Record]) -> None:
    path = tmp_path_factory.mktemp("jsonl") / "records.jsonl"
    assert corpora.write_jsonl(written, path) == len(written)
    read = list(corpora.read(path, "jsonl"))
    assert read == written
    assert [record.origin for record in read] == [Origin(str(path), line + 1) for line in range(len(written))]


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ('{"text": "a"', r"not JSON \(Expecting ',' delimiter at character 13\)"),
        ("", r"not JSON \(Expecting value at character 1\)"),
        ("7", "a int; expected an object such as"),
        ('{"source": "a"}', "no 'target'"),
        ('{"text": "a", "colour": "red"}', "unknown field 'colour'"),
        ('{"source": "a", "target": " "}', "the target is empty; expected a sentence"),
        ('{"source": "a", "exemplar": "", "target": "b"}', "the exemplar is empty; expected a sentence"),
        ('{"text": "' + "word " * 100_000 + '"}', "the text has 500,000 characters; expected at most 20,000"),
        ('{"text": "' + "word " * 300_000 + '"}', "more than 1,000,000 characters in one line"),
        ('{"text": "\\ud800"}', "the text holds a NUL or half a surrogate pair; expected text"),
        ('{"text": "\\u0000"}', "the text holds a NUL or half a surrogate pair; expected text"),
        ('{"text": "a b", "tokens": ["a b"], "tags": ["NN"]}', "the text has the token 'a b'; expected a word without"),
        ('{"text": "a", "tokens": [""], "tags": ["NN"]}', "the text has the token ''; expected a word without"),
        ('{"text": "a", "tokens": ["\\ud800"], "tags": ["NN"]}', r"the text has the token '\\ud800'; expected a word"),
        ('{"source": "a", "target": "b", "score": NaN}', "the score is not finite; expected a number"),
        ('{"source": "a", "target": "b", "score": 1e999}', "the score is not finite; expected a number"),
        ("[" * 100_000, "not usable JSON"),
        ('{"text": ' + "[" * 101 + "]" * 101 + "}", "not usable JSON: more than 100 brackets inside each other"),
        ('{"source": "a", "target": "b", "score": ' + "9" * 400 + "}", "score is a number beyond 64 bits"),
        (r'{"text": "a", "tree": "(S \ud800)"}', "the text's tree holds a NUL or half a surrogate pair"),
        (r'{"text": "a", "tokens": ["a"], "tags": ["\ud800"]}', "the text has the tag"),
        ("9" * 5_000, "not usable JSON"),
    ],
)
def test_bad_lines(tmp_path: Path, line: str, message: str) -> None:
    path = tmp_path / "records.jsonl"
    path.write_text('{"text": "good"}\n' + line + "\n" + '{"text": "good"}\n')
    with pytest.raises(InputError, match=f"^{path}:2: {message}"):
        list(corpora.read_jsonl(path))
    assert list(corpora.read_jsonl(path, skip_bad_lines=True)) == [Sentence("good")] * 2


def test_latin_1_is_named_as_such(tmp_path: Path) -> None:
    path = tmp_path / "records.jsonl"
    path.write_bytes('{"text": "é"}\n'.encode("latin-1"))
    with pytest.raises(InputError, match=":1: byte 11 is 0xE9, which is not UTF-8"):
        list(corpora.read_jsonl(path))


def failing() -> Iterator[Record]:
    yield Sentence("one")
    raise InputError("file:2: bad")


def test_an_error_on_the_way_leaves_the_old_file(tmp_path: Path) -> None:
    path = tmp_path / "records.jsonl"
    corpora.write_jsonl([Sentence("old")], path)
    with pytest.raises(InputError):
        corpora.write_jsonl(failing(), path)
    assert list(corpora.read_jsonl(path)) == [Sentence("old")]
    assert list(tmp_path.iterdir()) == [path]


def test_no_room_leaves_the_old_file(tmp_path: Path) -> None:
    """A limit on the size of a file stands in for a full disk: write(2) fails in the same place."""
    path = tmp_path / "records.jsonl"
    corpora.write_jsonl([Sentence("old")], path)
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (4096, hard))
    try:
        with pytest.raises(OSError):
            corpora.write_jsonl([Sentence("word " * 100)] * 1_000, path)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert list(corpora.read_jsonl(path)) == [Sentence("old")]
    assert list(tmp_path.iterdir()) == [path]
