"""Where the files of a set are found."""

from __future__ import annotations

from pathlib import Path

import pytest

from paraform.corpora.locating import highest


def test_the_highest_file_of_a_name_in_a_folder_of_a_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for place in ("a/deep/x.tsv", "z/x.tsv", "b/Quora-QP/deep/x.tsv", "b/deep/Quora-QP/x.tsv"):
        (tmp_path / place).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / place).touch()
    (tmp_path / "x.tsv").mkdir()  # no file
    assert highest(tmp_path, "x.tsv") == tmp_path / "z/x.tsv"
    assert highest(tmp_path, "x.tsv", "quora") == tmp_path / "b/deep/Quora-QP/x.tsv"
    assert highest(tmp_path, "x.tsv", "paws") is None
    monkeypatch.chdir(tmp_path / "b/deep/Quora-QP")
    assert highest(".", "x.tsv", "quora") == Path("x.tsv")
