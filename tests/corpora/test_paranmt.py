from __future__ import annotations

from pathlib import Path

import pytest

from paraform import corpora
from paraform.records import InputError, Pair, Sentence


def test_the_published_three_columns(tmp_path: Path) -> None:
    path = tmp_path / "para-nmt-50m.txt"
    path.write_text("so , what 's it like ?\thow is it ?\t0.7183\ncome on .\tgo .\t-0.02\n")
    first, second = corpora.read(path, "paranmt")
    assert first == Pair(Sentence("so , what 's it like ?"), Sentence("how is it ?"), score=0.7183)
    assert isinstance(second, Pair) and second.score == -0.02


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("a\tb\tgood", "the score is 'good'; expected a number"),
        ("a\tb\tnan", "the score is 'nan'; expected a number"),
        ("a\tb\t", "the score is empty; expected a sentence"),
        ("a", r"1 column; expected 3 \(source TAB target TAB score\)"),
        ("a\tb\t1\t2", r"4 columns; expected 3 \(source TAB target TAB score\)"),
    ],
)
def test_bad_lines(tmp_path: Path, line: str, message: str) -> None:
    path = tmp_path / "para.txt"
    path.write_text(f"a\tb\t0.5\n{line}\n")
    with pytest.raises(InputError, match=f":2: {message}$"):
        list(corpora.read(path, "paranmt"))


@pytest.mark.parametrize(("split", "count"), [("train", 9_000), ("dev", 500), ("test", 500)])
def test_real_sample_without_scores(data: Path, split: str, count: int) -> None:
    pairs = list(corpora.read(data / "paranmt" / f"{split}.tsv", "paranmt"))
    assert len(pairs) == count
    assert all(isinstance(pair, Pair) and pair.score is None for pair in pairs)
