from __future__ import annotations

from pathlib import Path

import pytest

from paraform import corpora
from paraform.records import Origin, Pair, Sentence


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
