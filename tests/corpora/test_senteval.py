from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from paraform.corpora.senteval import (
    LAYOUTS,
    LabelledText,
    read_binary,
    read_mrpc,
    read_sick,
    read_sst,
    read_transfer_sets,
    read_trec,
)
from paraform.records import InputError

SICK = "pair_ID\tsentence_A\tsentence_B\trelatedness_score\tentailment_judgment"
MRPC = "Quality\t#1 ID\t#2 ID\t#1 String\t#2 String"


def written(tmp_path: Path, content: str, encoding: str = "utf-8") -> Path:
    path = tmp_path / "set.txt"
    path.write_bytes(content.encode(encoding))
    return path


def test_a_class_a_file_in_latin_1_whose_odd_bytes_end_no_line(tmp_path: Path) -> None:
    """Byte 0x85 is a line break to Python's splitlines, which makes two sentences of one in SentEval."""
    path = written(tmp_path, "na\xefve , but \x85 fun\n\nfine\n", "latin-1")
    assert [row.text for row in read_binary(path, 1)] == ["na\xefve , but \x85 fun", "fine"]


def test_trec_keeps_the_coarse_class_and_what_follows_the_kind(tmp_path: Path) -> None:
    path = written(tmp_path, "NUM:date When was : it ?\nDESC:def What is caf\xe9 ?\n", "latin-1")
    assert list(read_trec(path, "test")) == [
        LabelledText("When was : it ?", None, 5, "test"),
        LabelledText("What is caf\xe9 ?", None, 1, "test"),
    ]


def test_sst_in_both_layouts(tmp_path: Path) -> None:
    path = written(tmp_path, "a fine film\t1\n0 1 bad film\n")
    assert [(row.text, row.label) for row in read_sst(path, "dev")] == [("a fine film", 1), ("1 bad film", 0)]


def test_pairs(tmp_path: Path) -> None:
    path = written(tmp_path, f'\ufeff{MRPC}\r\n1\t2\t3\tHe said "no.\tNo, he said.\r\n')
    assert list(read_mrpc(path, "train")) == [LabelledText('He said "no.', "No, he said.", 1, "train")]
    path = written(tmp_path, f"{SICK}\r\n1\tA cat\tA dog\t3.2\tNEUTRAL\r\n")
    assert list(read_sick(path, "dev")) == [LabelledText("A cat", "A dog", 1, "dev")]


@pytest.mark.parametrize(
    ("read", "content", "said"),
    [
        (read_trec, "NUM:date When ?\nWhen ?\n", r":2: 'When \?'; expected CLASS:kind"),
        (read_trec, "NUM:date When ?\nODD:x When ?\n", ":2: .*one of ABBR"),
        (read_trec, "NUM:date\n", ":1: "),
        (read_sst, "fine\t1\nfine\t2\n", ":2: .*expected sentence TAB 0 or 1"),
        (read_mrpc, f"{MRPC}\n1\t2\t3\tone\n", ":2: 4 fields; expected 5"),
        (read_mrpc, f"{MRPC}\n2\t2\t3\tone\tother\n", ":2: the label is '2'; expected 0 or 1"),
        (read_sick, "A\tB\n", ":1: no column 'sentence_A'"),
        (read_sick, f"{SICK}\n1\tA\tB\t3\tMAYBE\n", ":2: the label is 'MAYBE'"),
        (read_sick, f"{SICK}\n1\tA\tB\n", ":2: 3 fields; expected 5"),
        (read_sst, "", "the file is empty"),
    ],
)
def test_what_is_no_row(read: object, content: str, said: str, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=said):
        list(read(written(tmp_path, content), "train"))  # type: ignore[operator]  # one of several readers


def test_a_folder_in_senteval_s_layout_and_one_with_all_files_side_by_side(tmp_path: Path) -> None:
    for place, label in (
        ("SST/binary/sentiment-", "fine\t1\nfine\t0\n"),
        ("SST/fine/sentiment-", "3 fine\n"),
        ("flat/sst2.", "0 bad\n1 bad\n"),
    ):
        for part in ("train", "dev", "test"):
            path = tmp_path / f"{place}{part}"
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(label, encoding="utf-8")
    parts = [part for part in ("train", "dev", "test") for _ in range(2)]
    assert [row.part for row in read_transfer_sets(tmp_path / "SST")["SST-2"]] == parts
    assert {row.text for row in read_transfer_sets(tmp_path / "SST")["SST-2"]} == {"fine"}
    assert {row.text for row in read_transfer_sets(tmp_path / "flat")["SST-2"]} == {"bad"}


def test_sets_that_are_not_there(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no such folder"):
        read_transfer_sets(tmp_path / "none")
    with pytest.raises(InputError, match="none of MR, CR"):
        read_transfer_sets(tmp_path)
    with pytest.raises(InputError, match=r"TREC is not there; expected train_5500.label and TREC_10.label"):
        read_transfer_sets(tmp_path, ["TREC"])
    with pytest.raises(InputError, match="no set 'TRAC'; expected one of MR"):
        read_transfer_sets(tmp_path, ["TRAC"])


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"custrev.neg": "\n \n"}, "custrev.neg:1: blank lines alone; expected a sentence in some"),
        ({"SICK_trial.txt": f"{SICK}\n"}, "SICK_trial.txt:1: no rows below the header; expected at least one"),
        ({"TREC.train": "NUM:a b\nNUM:a c\n"}, "TREC.train:1: all rows of train have the label of this one; expected"),
        ({"TREC.test": "NUM:a b\nLOC:a c\n"}, "TREC.test:2: no row of train has the label of this one, of test"),
        ({"SICK_trial.txt": f"{SICK}\n1\tA\tB\t3\tENTAILMENT\n"}, "SICK_trial.txt:2: no row of train .*, of dev"),
    ],
)
def test_sets_that_no_probe_can_be_trained_on(changed: dict[str, str], said: str, tmp_path: Path) -> None:
    pairs = f"{SICK}\n1\tA\tB\t3\tNEUTRAL\n2\tC\tD\t3\tCONTRADICTION\n"
    files = {
        **{"custrev.pos": "good\n", "custrev.neg": "bad\n"},
        **{"TREC.train": "NUM:a b\nHUM:a c\n", "TREC.test": "NUM:a b\n"},
        **dict.fromkeys(("SICK_train.txt", "SICK_trial.txt", "SICK_test_annotated.txt"), pairs),
    }
    for name, content in (files | changed).items():
        (tmp_path / name).write_text(content, encoding="utf-8")
    with pytest.raises(InputError, match=said):
        read_transfer_sets(tmp_path)


def test_the_real_sets_have_their_published_sizes(data: Path) -> None:
    """Rows as the papers count them: Conneau and Kiela 2018, table 1; SICK and MRPC by their parts."""
    found = read_transfer_sets(data)
    assert list(found) == list(LAYOUTS)
    sizes = {name: len(rows) for name, rows in found.items()}
    assert sizes == {
        **{"MR": 10_662, "CR": 3_771, "MPQA": 10_603, "SUBJ": 10_000, "SST-2": 9_613},
        **{"TREC": 5_952, "MRPC": 5_801, "SICK-E": 9_927},
    }
    assert Counter(row.part for row in found["SICK-E"]) == {"train": 4_500, "dev": 500, "test": 4_927}
    assert Counter(row.part for row in found["MRPC"]) == {"train": 4_076, "test": 1_725}
