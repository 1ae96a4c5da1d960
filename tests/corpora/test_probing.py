"""SentEval's probing format: what is read, what is written, and what is no set."""

from __future__ import annotations

from pathlib import Path

import pytest

from paraform.corpora.probing import ProbingExample, read_probing, write_probing
from paraform.records import InputError

GOOD = "tr\tI\tNot quite did it .\ntr\tO\tIt did not .\nva\tO\tWhy ?\nte\tI\tSo is it .\n"


def test_parts_labels_and_sentences_are_read_lazily(tmp_path: Path) -> None:
    path = tmp_path / "bigram_shift.txt"
    path.write_text(GOOD + "va\tI\t2\tmore\t A é sentence . \nnonsense\n", encoding="utf-8")
    rows = read_probing(path)
    found = [next(rows) for _ in range(5)]
    assert found[0] == ProbingExample("tr", "I", "Not quite did it .")
    assert found[4] == ProbingExample("va", "I", "A é sentence .")  # columns between label and sentence are left out
    assert str(found[4].origin) == f"{path}:5"
    with pytest.raises(InputError, match=r":6: 1 column; expected 3 or more"):
        next(rows)


def test_what_is_written_is_read_back(tmp_path: Path) -> None:
    examples = [ProbingExample(part, label, f"{part} {label}") for part in ("tr", "va", "te") for label in "ab"]
    assert write_probing(examples, tmp_path / "set.txt") == 6
    assert list(read_probing(tmp_path / "set.txt")) == examples


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", r":1: the file is empty"),
        (GOOD + "tr\tI\n", r":5: 2 columns; expected 3 or more"),
        (GOOD + "dev\tI\tYes .\n", r":5: the part is 'dev'; expected one of tr, va, te"),
        (GOOD + "tr\t \tYes .\n", r":5: the label is empty"),
        (GOOD + "tr\tI\t \n", r":5: the sentence is empty"),
        (GOOD.replace("va", "tr"), r"set\.txt:1: no line of 'va'"),
        (GOOD + "tr\tX\tOnce .\n", r":5: the label 'X' has one example"),
        (GOOD + "te\tX\tOnce .\nte\tX\tTwice .\n", r":5: the label 'X' of te has no example in tr"),
        (GOOD + "va\tX\tOnce .\nva\tX\tTwice .\n", r":5: the label 'X' of va has no example in tr"),
        (GOOD.replace("\tO\t", "\tI\t"), r":1: all labels are 'I'; expected two or more"),
    ],
)
def test_what_is_no_probing_set(text: str, said: str, tmp_path: Path) -> None:
    path = tmp_path / "set.txt"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(InputError, match=said):
        list(read_probing(path))
