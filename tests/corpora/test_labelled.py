from __future__ import annotations

from pathlib import Path

import pytest

from paraform import corpora
from paraform.records import InputError, Origin, Sentence


def test_labels_are_left_out(tmp_path: Path) -> None:
    path = tmp_path / "yelp.txt"
    path.write_text("4\tgood food .\n0\t never again . \n", encoding="utf-8")
    found = list(corpora.read(path, "labelled"))
    assert found == [Sentence("good food ."), Sentence("never again .")]
    assert found[1].origin == Origin(str(path), 2)


@pytest.mark.parametrize(
    ("line", "said"),
    [("no label", "1 column; expected 2"), ("1\t ", "the sentence is empty"), ("a\tb\tc", "3 columns")],
)
def test_what_is_no_labelled_line(line: str, said: str, tmp_path: Path) -> None:
    path = tmp_path / "yelp.txt"
    path.write_text(f"4\tgood food .\n{line}\n", encoding="utf-8")
    with pytest.raises(InputError, match=f":2: .*{said}"):
        list(corpora.read_labelled(path))
    assert len(list(corpora.read_labelled(path, skip_bad_lines=True))) == 1
