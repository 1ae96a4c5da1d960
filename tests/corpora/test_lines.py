"""Every kind of bad file, through the public door; the same complaint whatever the format."""

from __future__ import annotations

import itertools
import logging
import tracemalloc
from pathlib import Path

import pytest

from paraform import corpora
from paraform.corpora.lines import MAX_CHARACTERS
from paraform.records import InputError

GOOD = b"how old are you ?\twhat is your age ?\n"
BAD_LINES = {
    "one column": (b"how old are you ?\n", r"1 column; expected 2 \(source TAB target\)"),
    "three columns": (b"a\tb\tc\n", r"3 columns; expected 2 \(source TAB target\)"),
    "blank": (b"\n", r"1 column; expected 2 \(source TAB target\)"),
    "empty source": (b"\tb\n", r"the source is empty; expected a sentence"),
    "empty target": (b"a\t \r\n", r"the target is empty; expected a sentence"),
    "NUL": (b"a\tb\0c\n", r"byte 4 is NUL; expected UTF-8 text"),
    "latin-1": ("café\tb\n".encode("latin-1"), r"byte 4 is 0xE9, which is not UTF-8"),
    "100,000 words": (b"word " * 100_000 + b"\tb\n", r"more than 20,000 characters in one line"),
    "half a character": (b"a\tb\xe2\x82\n", r"byte 4 is 0xE2, which is not UTF-8"),
}


def write(folder: Path, content: bytes, name: str = "file.tsv") -> Path:
    path = folder / name
    path.write_bytes(content)
    return path


@pytest.mark.parametrize("kind", BAD_LINES)
def test_a_bad_line_is_named_with_its_file_and_line(tmp_path: Path, kind: str) -> None:
    content, message = BAD_LINES[kind]
    path = write(tmp_path, GOOD + content + GOOD)
    with pytest.raises(InputError, match=f"^{path}:2: {message}") as caught:
        list(corpora.read(path))
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("end", [b"\n", b"\r\n  \r\n", b"\n" * 5, b"\t\n"])
def test_blank_lines_at_the_end_are_none(tmp_path: Path, end: bytes) -> None:
    assert len(list(corpora.read(write(tmp_path, GOOD + GOOD + end)))) == 2
    with pytest.raises(InputError, match=":3: "):
        list(corpora.read(write(tmp_path, GOOD + GOOD + end + GOOD)))


def test_a_file_of_blank_lines_is_no_empty_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(InputError, match=":1: 1 column"):
        list(corpora.read(write(tmp_path, b"\n\n")))
    monkeypatch.setattr("paraform.corpora.lines.BLANKS", 2)
    with pytest.raises(InputError, match=":2: 1 column"):  # more than are held back
        list(corpora.read(write(tmp_path, GOOD + b"\n\n\n")))


@pytest.mark.parametrize("kind", BAD_LINES)
def test_skipping_keeps_the_good_lines_and_warns_once(
    tmp_path: Path, kind: str, caplog: pytest.LogCaptureFixture
) -> None:
    content = BAD_LINES[kind][0]
    path = write(tmp_path, content + GOOD + content + GOOD)
    with caplog.at_level(logging.WARNING, "paraform"):
        pairs = list(corpora.read(path, skip_bad_lines=True))
    assert [pair.origin.line for pair in pairs if pair.origin] == [2, 4]
    (record,) = caplog.records
    assert record.name == "paraform"
    assert f"{path}: 2 bad lines skipped; the first: {path}:1: " in record.getMessage()


@pytest.mark.parametrize("skip", [False, True])
@pytest.mark.parametrize("format", [name for name in corpora.FORMATS if name != "qqp-pos"])
@pytest.mark.parametrize("content", [b"", b"\xef\xbb\xbf"])
def test_an_empty_file_is_an_error_in_every_format(tmp_path: Path, format: str, skip: bool, content: bytes) -> None:
    path = write(tmp_path, content)
    with pytest.raises(InputError, match=f"^{path}:1: the file is empty; expected at least one line$"):
        list(corpora.read(path, format, skip_bad_lines=skip))


def test_a_file_without_one_good_line_is_an_error_even_when_skipping(tmp_path: Path) -> None:
    path = write(tmp_path, b"one\ntwo\n")
    with pytest.raises(InputError, match=rf"^{path}:1: 1 column; .* \(none of 2 lines could be used\)$"):
        list(corpora.read(path, skip_bad_lines=True))


@pytest.mark.parametrize("format", corpora.FORMATS)
@pytest.mark.parametrize("skip", [False, True])
def test_a_binary_file_is_an_error_in_every_format(tmp_path: Path, format: str, skip: bool) -> None:
    path = write(tmp_path, bytes(range(256)) * 400)
    with pytest.raises(InputError, match=f"^{path}"):
        list(corpora.read(path, format, skip_bad_lines=skip))


def test_utf_16_is_named(tmp_path: Path) -> None:
    path = write(tmp_path, "a\tb\n".encode("utf-16"))
    with pytest.raises(InputError, match=f"^{path}:1: byte 4 is NUL; expected UTF-8 text, not UTF-16"):
        list(corpora.read(path))


def test_a_missing_file_and_a_folder(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=f"^{tmp_path}/none.tsv: no such file$"):
        list(corpora.read(tmp_path / "none.tsv"))
    with pytest.raises(InputError, match=f"^{tmp_path}: a folder; expected a file$"):
        list(corpora.read(tmp_path))


def test_what_the_system_will_not_open(tmp_path: Path) -> None:
    path = write(tmp_path, GOOD)
    with pytest.raises(InputError, match=r"cannot be read \(.*Not a directory"):
        list(corpora.read(path / "inside"))
    with pytest.raises(InputError, match=r"a NUL in a path"):
        list(corpora.read("a\0b"))


def test_an_unknown_format_is_an_error_at_once(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="format 'xlsx'; expected one of pairs, quora,"):
        corpora.read(tmp_path / "none", "xlsx")


def test_byte_order_mark_crlf_and_a_last_line_without_a_break(tmp_path: Path) -> None:
    path = write(tmp_path, b"\xef\xbb\xbf" + "café\tb\r\n c \td".encode())
    pairs = list(corpora.read(path))
    assert [(pair.source.text, pair.target.text) for pair in pairs] == [("café", "b"), ("c", "d")]
    latin = write(tmp_path, b"\xef\xbb\xbfa\xe9\tb\n")
    with pytest.raises(InputError, match=":1: byte 5 is 0xE9"):  # counted in the file, with the mark
        list(corpora.read(latin))


def test_only_a_line_feed_ends_a_line(tmp_path: Path) -> None:
    """str.splitlines would also break at U+0085 and U+2028, which real files hold."""
    path = write(tmp_path, "a\x85b\tc\u2028d\x0be\n".encode())
    (pair,) = corpora.read(path)
    assert (pair.source.text, pair.target.text) == ("a\x85b", "c\u2028d\x0be")


@pytest.mark.parametrize("character", ["x", "é", "€", "😀"])
def test_the_limit_is_in_characters_whatever_their_width(tmp_path: Path, character: str) -> None:
    longest = character * (MAX_CHARACTERS - 2) + "\tb"
    (pair,) = corpora.read(write(tmp_path, f"{longest}\r\n".encode()))
    assert len(pair.source.text) == MAX_CHARACTERS - 2
    path = write(tmp_path, f"{longest}b\n".encode() + GOOD)
    with pytest.raises(InputError, match=":1: more than 20,000 characters"):
        list(corpora.read(path))
    assert len(list(corpora.read(path, skip_bad_lines=True))) == 1


def test_a_line_is_never_read_whole_into_memory(tmp_path: Path) -> None:
    path = write(tmp_path, b"x" * 30_000_000 + b"\n" + GOOD)
    tracemalloc.start()
    assert len(list(corpora.read(path, skip_bad_lines=True))) == 1
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 2_000_000


def test_reading_is_lazy(tmp_path: Path) -> None:
    path = write(tmp_path, GOOD * 3 + b"bad\n")
    assert len(list(itertools.islice(corpora.read(path), 3))) == 3


def test_a_file_without_a_line_feed_has_lines_that_end_in_cr(tmp_path: Path) -> None:
    path = write(tmp_path, b"a\tb\rc\td\r")
    assert [(pair.source.text, pair.target.text) for pair in corpora.read(path)] == [("a", "b"), ("c", "d")]
    for content in (b"a\rb\tc\n", b"a\tb\r"):
        (pair,) = corpora.read(write(tmp_path, content))
        assert pair.source.text in ("a\rb", "a")
