"""Labelled pairs in the formats as they are distributed, and pairs that have no labels."""

from __future__ import annotations

from pathlib import Path

import pytest

from paraform import corpora
from paraform.corpora.labelled_pairs import read_labelled_pairs, require_both_labels
from paraform.records import InputError

PAIRS = [('A "cat" sat.', "It sat, too.", 1), ("c", "d", 0)]
FORMATS = {
    "pan-test.labels": {
        "pan-test.labels": "1\n0\n",
        "pan-test_s1.txt": 'A "cat" sat.\nc\n',
        "pan-test_s2.txt": "It sat, too.\nd\n",
    },
    "msr_paraphrase_test.txt": {
        "msr_paraphrase_test.txt": "\ufeffQuality\t#1 ID\t#2 ID\t#1 String\t#2 String\r\n"
        '1\t7\t8\tA "cat" sat.\tIt sat, too.\r\n0\t9\t10\tc\td\r\n'
    },
    "paws.tsv": {"paws.tsv": '1\tA "cat" sat.\tIt sat, too.\t1\n2\tc\td\t0\n'},
    "dev.tsv": {"dev.tsv": 'id\tsentence1\tsentence2\tlabel\n1\tA "cat" sat.\tIt sat, too.\t1\n2\tc\td\t0\n'},
    "quora_duplicate_questions.tsv": {
        "quora_duplicate_questions.tsv": '"id"\t"qid1"\t"qid2"\t"question1"\t"question2"\t"is_duplicate"\n'
        '"0"\t"1"\t"2"\t"A ""cat"" sat."\t"It sat, too."\t"1"\n"1"\t"3"\t"4"\t"c"\t"d"\t"0"\n'
    },
    "own.csv": {"own.csv": 'sentence1,sentence2,label\n"A ""cat"" sat.","It sat, too.",1\nc,d,0\n'},
    "own.jsonl": {
        "own.jsonl": '{"sentence1": "A \\"cat\\" sat.", "sentence2": "It sat, too.", "label": true}\n'
        '{"sentence1": "c", "sentence2": "d", "label": 0}\n'
    },
}


def written(folder: Path, files: dict[str, str]) -> None:
    for name, content in files.items():
        (folder / name).write_bytes(content.encode())


@pytest.mark.parametrize("name", FORMATS)
def test_every_format_holds_the_same_pairs(tmp_path: Path, name: str) -> None:
    written(tmp_path, FORMATS[name])
    found = [(pair.source.text, pair.target.text, pair.label) for pair in read_labelled_pairs(tmp_path / name)]
    assert found == PAIRS


@pytest.mark.parametrize("name", FORMATS)
def test_one_format_reads_them_all_and_skips_bad_lines(tmp_path: Path, name: str) -> None:
    """A third row with a label of 7: an error, or left out."""
    written(tmp_path, FORMATS[name])
    assert [pair.label for pair in corpora.read(tmp_path / name, "labelled-pairs")] == [1, 0]
    bad = {
        file: content + content.splitlines(keepends=True)[-1].replace("0", "7")
        for file, content in FORMATS[name].items()
    }
    written(tmp_path, bad)
    with pytest.raises(InputError, match="'7'"):
        list(corpora.read(tmp_path / name, "labelled-pairs"))
    found = corpora.read(tmp_path / name, "labelled-pairs", skip_bad_lines=True)
    assert [(pair.source.text, pair.label) for pair in found] == [(PAIRS[0][0], 1), ("c", 0)]


def test_two_columns_have_no_labels(tmp_path: Path) -> None:
    written(tmp_path, {"pairs.tsv": "a\tb\nc\td\n"})
    assert [pair.label for pair in read_labelled_pairs(tmp_path / "pairs.tsv")] == [None, None]


THREE = FORMATS["pan-test.labels"]


@pytest.mark.parametrize(
    ("changed", "path", "columns", "said"),
    [
        ({"pan-test.labels": "1\n0\n1\n"}, "pan-test.labels", None, "pan-test.labels:3: a line beyond the last one of"),
        ({"pan-test_s2.txt": "b\nd\nf\n"}, "pan-test.labels", None, "pan-test_s2.txt:3: a line beyond the last one of"),
        ({"pan-test.labels": "1\n\n"}, "pan-test.labels", None, "pan-test.labels:2: the label is ''; expected 0 or 1"),
        ({"p.tsv": "1\ta\tb\t1\n2\tc\td\tno\n"}, "p.tsv", None, "p.tsv:2: the label is 'no'; expected 0 or 1"),
        ({"p.tsv": "1\ta\tb\t1\n2\tc\td\n"}, "p.tsv", None, "p.tsv:2: 3 columns; expected 4 (id TAB"),
        (
            {"p.csv": "a,b,c\nx,y,1\n"},
            "p.csv",
            ("a", "b", "gold"),
            "p.csv:1: no column 'gold'; expected one of 'a', 'b', 'c'",
        ),
        ({"p.csv": "a,b,c\nx,y,1\n"}, "p.csv", None, "p.csv:1: no column 'sentence1'; expected one of 'a', 'b', 'c'"),
    ],
)
def test_what_is_wrong_is_told_with_its_place(
    tmp_path: Path, changed: dict[str, str], path: str, columns: tuple[str, str, str] | None, said: str
) -> None:
    written(tmp_path, THREE | changed)
    with pytest.raises(InputError) as caught:
        list(read_labelled_pairs(tmp_path / path, columns))
    assert str(caught.value).startswith(f"{tmp_path}/{said}")


def test_one_label_alone_is_nothing_to_tell_apart(tmp_path: Path) -> None:
    written(tmp_path, {"p.tsv": "1\ta\tb\t1\n2\tc\td\t1\n"})
    pairs = list(read_labelled_pairs(tmp_path / "p.tsv"))
    with pytest.raises(InputError, match=r"p\.tsv:1: label 1, as of all 2 pairs; expected pairs of both labels"):
        require_both_labels(pairs, tmp_path / "p.tsv")
