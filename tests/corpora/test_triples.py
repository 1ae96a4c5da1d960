from __future__ import annotations

from pathlib import Path

import pytest

from paraform import corpora
from paraform.records import InputError, Sentence, Triple


def test_triples(tmp_path: Path) -> None:
    path = tmp_path / "triples.tsv"
    path.write_text("source\texemplar\ttarget\n")
    assert list(corpora.read(path, "triples")) == [Triple(Sentence("source"), Sentence("exemplar"), Sentence("target"))]


def test_two_columns_are_no_triple(tmp_path: Path) -> None:
    path = tmp_path / "triples.tsv"
    path.write_text("source\ttarget\n")
    with pytest.raises(InputError, match=r":1: 2 columns; expected 3 \(source TAB exemplar TAB target\)$"):
        list(corpora.read(path, "triples"))
