"""SemEval's pairs in SentEval's layout: which are scored, and what can be wrong with two files of one domain."""

from __future__ import annotations

from pathlib import Path

import pytest

from paraform.corpora.sts import read_sts, sts_domains
from paraform.records import InputError


def domain(folder: Path, pairs: str, gold: str, name: str = "news") -> tuple[Path, Path]:
    (folder / f"STS.input.{name}.txt").write_text(pairs, encoding="utf-8")
    (folder / f"STS.gs.{name}.txt").write_text(gold, encoding="utf-8")
    return sts_domains(folder)[name]


def test_a_blank_line_of_scores_is_a_pair_without_one(tmp_path: Path) -> None:
    files = domain(tmp_path, "a b\tc d\n\t\ne\tf\thttp\tnews\n", "4.25\n\n 0\n")
    found = [(pair.source.text, pair.target.text, pair.score) for pair in read_sts(*files)]
    assert found == [("a b", "c d", 4.25), ("", "", None), ("e", "f", 0.0)]


@pytest.mark.parametrize(
    ("pairs", "gold", "place", "said"),
    [
        ("a\tb\n", "1\n2\n", "STS.gs.news.txt:2", "a line beyond the last pair of"),
        ("a\tb\nc\td\n", "1\n", "STS.input.news.txt:2", "a pair beyond the last line of"),
        ("a\tb\n", "nan\n", "STS.gs.news.txt:1", "the score is 'nan'; expected a finite number"),
        ("a\tb\n", "-inf\n", "STS.gs.news.txt:1", "the score is '-inf'; expected a finite number"),
        ("a\tb\n", "high\n", "STS.gs.news.txt:1", "the score is 'high'; expected a finite number"),
        ("a\n", "1\n", "STS.input.news.txt:1", "1 column; expected 2"),
        ("a\t \n", "1\n", "STS.input.news.txt:1", "the sentence2 is empty"),
        ("a\tb\n", "", "STS.gs.news.txt:1", "the file is empty"),
    ],
)
def test_what_is_wrong_is_told_with_its_place(tmp_path: Path, pairs: str, gold: str, place: str, said: str) -> None:
    files = domain(tmp_path, pairs, gold)
    with pytest.raises(InputError, match="^" + str(tmp_path / place)) as caught:
        list(read_sts(*files))
    assert said in str(caught.value)


def test_a_domain_without_scores_is_no_domain(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"no STS\.input\.\*\.txt"):
        sts_domains(tmp_path)
    (tmp_path / "STS.input.news.txt").write_text("a\tb\n", encoding="utf-8")
    with pytest.raises(InputError, match=r"STS\.gs\.news\.txt: no such file"):
        sts_domains(tmp_path)
