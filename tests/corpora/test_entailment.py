"""Judged pairs: SICK's, SNLI's and MultiNLI's files, and what can go wrong in them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from paraform.corpora.senteval import read_sick
from paraform.records import InputError
from paraform_papers.rivals.infersent.entailment import read_entailment

SICK = "pair_ID\tsentence_A\tsentence_B\trelatedness_score\tentailment_judgment\n"
SNLI = "gold_label\tsentence1_parse\tsentence1\tsentence2\tcaptionID\n"


def test_sick_s_file_as_senteval_s_reader_has_it(tmp_path: Path) -> None:
    path = tmp_path / "SICK_train.txt"
    path.write_text(SICK + "1\tA dog runs\tAn animal runs\t4.5\tENTAILMENT\n2\tA dog\tNo dog\t3\tCONTRADICTION\n")
    found = list(read_entailment(path))
    assert [(one.text, one.other, one.label) for one in found] == [
        ("A dog runs", "An animal runs", 2),
        ("A dog", "No dog", 0),
    ]
    assert [(one.text, one.other, one.label) for one in read_sick(path, "train")] == [
        (one.text, one.other, one.label) for one in found
    ]
    assert str(found[1].origin) == f"{path}:3"


def test_snli_s_two_files_say_the_same_and_undecided_pairs_are_left_out(tmp_path: Path) -> None:
    rows = [("entailment", 'A man "sings"', "He sings"), ("-", "a", "b"), ("neutral", "A man", "Men")]
    text, objects = tmp_path / "snli_1.0_dev.txt", tmp_path / "snli_1.0_dev.jsonl"
    text.write_text(SNLI + "".join(f"{label}\t(ROOT)\t{one}\t{other}\t3\n" for label, one, other in rows))
    lines = [
        json.dumps({"annotator_labels": ["x"], "gold_label": label, "sentence1": one, "sentence2": other})
        for label, one, other in rows
    ]
    objects.write_text("\n".join(lines) + "\n")
    for path in (text, objects):
        found = [(one.text, one.other, one.label) for one in read_entailment(path)]
        assert found == [('A man "sings"', "He sings", 2), ("A man", "Men", 1)]


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("a.txt", b"", "a.txt:1: the file is empty"),
        (
            "a.txt",
            SICK.encode() + b"1\tA dog\tA cat\t3\tMAYBE\n",
            "a.txt:2: the label is 'MAYBE'; expected one of contra",
        ),
        ("a.txt", SICK.encode() + b"1\tA dog\t \t3\tNEUTRAL\n", "a.txt:2: "),
        ("a.txt", SICK.encode() + b"1\tA dog\t3\tNEUTRAL\n", "a.txt:2: 4 fields; expected 5"),
        ("a.txt", SICK.encode() + b"1\tA d\0g\tA cat\t3\tNEUTRAL\n", "a.txt:2: "),
        ("a.txt", SICK.encode() + "1\tA dög\tA cat\t3\tNEUTRAL\n".encode("latin-1"), "a.txt:2: byte 6 is 0xF6"),
        ("a.txt", b"one\ttwo\n1\t2\n", "a.txt:1: no column 'sentence1'; expected one of"),
        ("a.jsonl", b"{\n", "a.jsonl:1: not JSON"),
        ("a.jsonl", b'{"sentence1": "a", "sentence2": "b"}\n', "a.jsonl:1: no object with texts"),
        ("a.jsonl", b'{"sentence1": "", "sentence2": "b", "gold_label": "neutral"}\n', "a.jsonl:1: "),
        ("a.jsonl", b"[1]\n", "a.jsonl:1: no object"),
    ],
)
def test_what_can_go_wrong(name: str, content: bytes, said: str, tmp_path: Path) -> None:
    (tmp_path / name).write_bytes(content)
    with pytest.raises(InputError) as caught:
        list(read_entailment(tmp_path / name))
    assert said in str(caught.value)


def test_bad_lines_can_be_skipped(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    path = tmp_path / "a.txt"
    path.write_text(SICK + "1\tA dog\tA cat\t3\tMAYBE\n2\tA dog\tA cat\t3\tNEUTRAL\n3\tA dog\n")
    assert [one.label for one in read_entailment(path, skip_bad_lines=True)] == [1]
    assert "bad line" in caplog.text
