from __future__ import annotations

from pathlib import Path

import pytest

from paraform import corpora
from paraform.records import InputError, Origin, Pair, Sentence


def test_pairs(tmp_path: Path) -> None:
    path = tmp_path / "pairs.tsv"
    path.write_text('"Why" do it?\tWhy do "it"?\nWho?\tWhich one?\n')
    pairs = list(corpora.read_pairs(path))
    assert pairs == [
        Pair(Sentence('"Why" do it?'), Sentence('Why do "it"?')),
        Pair(Sentence("Who?"), Sentence("Which one?")),
    ]
    assert [pair.origin for pair in pairs] == [Origin(str(path), 1), Origin(str(path), 2)]
    assert pairs[1].target.origin == Origin(str(path), 2)


@pytest.mark.parametrize(("split", "count"), [("train", 118_183), ("dev", 3_000), ("test", 3_001)])
def test_real_quora_pairs(data: Path, split: str, count: int) -> None:
    pairs = list(corpora.read(data / "quora" / f"{split}.tsv"))
    assert len(pairs) == count
    assert [pair.origin.line for pair in pairs if pair.origin] == list(range(1, count + 1))


def test_real_tatoeba_pairs(data: Path) -> None:
    assert sum(1 for _ in corpora.read(data / "tatoeba" / "pairs.tsv")) == 8_319


@pytest.mark.parametrize("header", ["sentence1\tsentence2", "source\ttarget", "Question A\tQuestion B"])
def test_a_header_is_no_pair(tmp_path: Path, header: str) -> None:
    path = tmp_path / "pairs.tsv"
    path.write_text(f"{header}\nWho?\tWhich one?\n")
    with pytest.raises(InputError, match=r"pairs.tsv:1: a header, .*; expected pairs from the first line on"):
        list(corpora.read_pairs(path))
    assert len(list(corpora.read_pairs(path, skip_bad_lines=True))) == 1
