from __future__ import annotations

from pathlib import Path

import pytest

from paraform import corpora
from paraform.records import InputError, Origin, Sentence


def test_text(tmp_path: Path) -> None:
    path = tmp_path / "text.txt"
    path.write_text(" one sentence \nanother\n")
    sentences = list(corpora.read_text(path))
    assert sentences == [Sentence("one sentence"), Sentence("another")]
    assert sentences[1].origin == Origin(str(path), 2)


def test_a_blank_line_is_named(tmp_path: Path) -> None:
    path = tmp_path / "text.txt"
    path.write_text("one\n\ntwo\n")
    with pytest.raises(InputError, match=r":2: the line is empty; expected a sentence$"):
        list(corpora.read_text(path))


@pytest.mark.parametrize(("split", "count"), [("train", 42_068), ("valid", 3_370), ("test", 3_761)])
def test_real_penn_treebank(data: Path, split: str, count: int) -> None:
    assert sum(1 for _ in corpora.read(data / "ptb" / f"ptb.{split}.txt", "text")) == count
