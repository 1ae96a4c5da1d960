from __future__ import annotations

from itertools import combinations
from pathlib import Path

import pytest

from paraform import corpora
from paraform.records import InputError


def test_first_and_all(tmp_path: Path) -> None:
    path = tmp_path / "captions.tsv"
    path.write_text("a\tb\tc\nd\te\n")
    first = [(p.source.text, p.target.text, p.cluster) for p in corpora.read_captions(path)]
    assert first == [("a", "b", 1), ("a", "c", 1), ("d", "e", 2)]
    every = [(p.source.text, p.target.text, p.cluster) for p in corpora.read_captions(path, pairs="all")]
    assert every == [(*two, 1) for two in combinations("abc", 2)] + [("d", "e", 2)]


def test_equal_captions_stay_pairs(tmp_path: Path) -> None:
    path = tmp_path / "captions.tsv"
    path.write_text("a\ta\ta\n")
    assert len(list(corpora.read_captions(path))) == 2


def test_bad_lines(tmp_path: Path) -> None:
    path = tmp_path / "captions.tsv"
    path.write_text("a\tb\nalone\n")
    with pytest.raises(InputError, match=r":2: 1 caption; expected two or more, TAB separated$"):
        list(corpora.read(path, "captions"))
    path.write_text("a\tb\t\n")
    with pytest.raises(InputError, match=r":1: the caption 3 is empty; expected a sentence$"):
        list(corpora.read(path, "captions"))
    with pytest.raises(ValueError, match='expected "first" or "all"'):
        corpora.read_captions(path, pairs="some")


def test_real_multi30k(data: Path) -> None:
    pairs = list(corpora.read_captions(data / "multi30k" / "train.tsv"))
    assert len(pairs) == 4 * 29_000
    assert len({pair.cluster for pair in pairs}) == 29_000
    assert sum(1 for _ in corpora.read_captions(data / "multi30k" / "test.tsv", pairs="all")) == 10 * 1_000
