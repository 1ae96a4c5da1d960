"""Scored pairs, a row each, in the formats as they are distributed."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from paraform.corpora.scored import read_scored
from paraform.records import InputError

FORMATS = {
    "sts-test.csv": 'main-news\tMSRpar\t2012\t1\t3.8\tA "cat" sat.\tIt sat, too.\tsrc\tlicence\nx\ty\tz\t2\t0\tc\td\n',
    "stsb-en-test.csv": '"A ""cat"" sat.","It sat, too.",3.8\nc,d,0\n',
    "no-header.tsv": 'A "cat" sat.\tIt sat, too.\t3.8\nc\td\t0\n',
    "sts17.tsv": 'A "cat" sat.\tIt sat, too.\t3.8\ten-en\nc\td\t0\ten-en\n',
    "SICK_trial.txt": "pair_ID\tsentence_A\tsentence_B\trelatedness_score\tentailment_judgment\n"
    '4\tA "cat" sat.\tIt sat, too.\t3.8\tNEUTRAL\n5\tc\td\t0\tNEUTRAL\n',
    "own.csv": 'sentence1,sentence2,score\n"A ""cat"" sat.","It sat, too.",3.8\nc,d,0\n',
    "own.tsv": 'sentence1\tsentence2\tscore\nA "cat" sat.\tIt sat, too.\t3.8\nc\td\t0\n',
    "own.jsonl": "".join(
        json.dumps(dict(zip(("sentence1", "sentence2", "score"), row, strict=True))) + "\n"
        for row in (('A "cat" sat.', "It sat, too.", 3.8), ("c", "d", 0))
    ),
}


def written(folder: Path, name: str, content: str) -> Path:
    (folder / name).write_text(content, encoding="utf-8")
    return folder / name


@pytest.mark.parametrize("name", FORMATS)
def test_every_format_holds_the_same_pairs(tmp_path: Path, name: str) -> None:
    found = list(read_scored(written(tmp_path, name, FORMATS[name])))
    assert [(pair.source.text, pair.target.text, pair.score) for pair in found] == [
        ('A "cat" sat.', "It sat, too.", 3.8),
        ("c", "d", 0.0),
    ]


def test_named_columns_and_a_blank_score(tmp_path: Path) -> None:
    path = written(tmp_path, "t.csv", "id,gold,left,right\n1,,a,b\n2,1.5,c,d\n")
    found = [(pair.source.text, pair.score) for pair in read_scored(path, ("left", "right", "gold"))]
    assert found == [("a", None), ("c", 1.5)]


@pytest.mark.parametrize(
    ("name", "content", "columns", "said"),
    [
        ("t.csv", "a,b,c\nx,y,1\n", ("a", "b", "gold"), "t.csv:1: no column 'gold'; expected one of 'a', 'b', 'c'"),
        ("t.csv", "a,b,c\nx,y,1\n", ("left", "b", "c"), "t.csv:1: no column 'left'; expected one of 'a', 'b', 'c'"),
        ("t.csv", "a,b,c\nx,y,1\n", None, "t.csv:1: no column 'sentence1'; expected one of 'a', 'b', 'c'"),
        ("t.csv", "a,b,c\nx,y,nan\n", ("a", "b", "c"), "t.csv:2: the score is 'nan'; expected a finite number"),
        ("t.csv", "a,b,c\nx,,1\n", ("a", "b", "c"), "t.csv:2: the column 'b' is empty"),
        ("t.csv", "a,b,c\nx,y,1\n", ("a", "a", "c"), "t.csv:1: column 'a' is named twice; expected"),
        ("t.jsonl", '{"a": "x", "b": 5, "c": 1}\n', ("a", "b", "c"), "t.jsonl:1: column 'b' holds a number"),
        ("t.csv", "x,y,1\nz,2\n", None, "t.csv:2: 2 columns; expected 3, as in the first line"),
        ("t.csv", "", None, "t.csv:1: the file is empty"),
    ],
)
def test_what_is_wrong_is_told_with_its_place(
    tmp_path: Path, name: str, content: str, columns: tuple[str, str, str] | None, said: str
) -> None:
    with pytest.raises(InputError) as caught:
        list(read_scored(written(tmp_path, name, content), columns))
    assert str(caught.value).startswith(f"{tmp_path}/{said}")
