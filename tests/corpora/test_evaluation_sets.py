"""The columns of text of evaluation sets, in the layouts in which they are distributed."""

from __future__ import annotations

from pathlib import Path

import pytest

from paraform.corpora.evaluation_sets import read_evaluation_sets, read_evaluation_texts
from paraform.records import InputError

LAYOUTS = {
    "STS.input.x.txt": ("a dog .\tthe cat .\na b\tno\n", ["a dog .", "the cat .", "a b", "no"]),
    "sts-test.csv": ('MSRvid\tmain\t2012test\t1\t2.5\ta dog\ta "cat\n', ["a dog", 'a "cat']),
    "stsb-en-test.csv": ('"A dog, a cat.",A bird.,2.5\nA b.,C d.,1\n', ["A dog, a cat.", "A bird.", "A b.", "C d."]),
    "SICK.txt": ("pair_ID\tsentence_A\tsentence_B\tjudgment\n1\tOne\tTwo\tNEUTRAL\n", ["One", "Two"]),
    "mrpc.txt": ('\ufeffQuality\t#1 ID\t#2 ID\t#1 String\t#2 String\n1\t7\t8\tA "b".\tC d.\n', ['A "b".', "C d."]),
    "paws.tsv": ("1\tA b c\tC b a\t0\n", ["A b c", "C b a"]),
    "TREC.test": ("NUM:dist How far ?\nLOC:city Where ?\n", ["How far ?", "Where ?"]),
    "sst2.dev": ("0 one long string\n1 good\n", ["one long string", "good"]),
    "sst-test": ("one long string\t0\nvery good\t1\n", ["one long string", "very good"]),
    "custrev.neg": ("bad\n1 star\n\n", ["bad", "1 star"]),
    "bigram_shift.txt": ("tr\tI\tDo it not .\nva\tO\tGo on .\n", ["Do it not .", "Go on ."]),
    "quora.tsv": ("id\tquestion1\tquestion2\tis_duplicate\n0\tWhy?\tHow?\t1\n", ["Why?", "How?"]),
    "set.jsonl": (
        '{"id": "a b", "question": "Why?", "n": 1}\n{"x": "some words", "y": "one"}\n',
        ["Why?", "some words"],
    ),
    "trees.mrg": ("(S (NP (PRP I)) (VP (VBP see)))", ["I see"]),
}


@pytest.mark.parametrize("name", LAYOUTS)
def test_texts_of_a_layout(name: str, tmp_path: Path) -> None:
    content, texts = LAYOUTS[name]
    (tmp_path / name).write_text(content, encoding="utf-8")
    assert list(read_evaluation_texts(tmp_path / name)) == texts


def test_latin_1(tmp_path: Path) -> None:
    (tmp_path / "rt-polarity.neg").write_bytes("a cliché .\n".encode("latin-1"))
    assert list(read_evaluation_texts(tmp_path / "rt-polarity.neg")) == ["a cliché ."]


def test_a_folder_with_labels_and_a_readme(tmp_path: Path) -> None:
    (tmp_path / "STS").mkdir()
    files = {"STS/STS.gs.x.txt": "2.5\n\n1\n", "STS/STS.input.x.txt": "a b\tc d\n", "README.md": "text", "b.txt": "c\n"}
    for name, text in files.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    expected = {str(tmp_path / "STS/STS.input.x.txt"): ["a b", "c d"], str(tmp_path / "b.txt"): ["c"]}
    assert read_evaluation_sets([tmp_path]) == expected
    with pytest.raises(InputError, match=r"gs\.x\.txt:1: numbers or labels alone"):
        read_evaluation_sets([tmp_path / "STS/STS.gs.x.txt"])


def test_nothing_to_read(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="a folder without files"):
        read_evaluation_sets([tmp_path])
    with pytest.raises(InputError, match="nowhere: no such file"):
        read_evaluation_sets([tmp_path / "nowhere"])
    (tmp_path / "labels").write_text("1\n0\n", encoding="utf-8")
    with pytest.raises(InputError, match="no file in it has a column of texts"):
        read_evaluation_sets([tmp_path])
    (tmp_path / "x.jsonl").write_text("[1]\n", encoding="utf-8")
    with pytest.raises(InputError, match=r"x\.jsonl:1: no JSON object"):
        read_evaluation_sets([tmp_path / "x.jsonl"])


def test_a_first_field_that_csv_cannot_hold(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text("word " * 30_000 + ",text\na,b\n")
    with pytest.raises(InputError, match=rf"^{path}:1: not a row of comma-separated fields \(field larger than"):
        list(read_evaluation_texts(path))
