"""SGCP's folders: what `tgt.txt` means turns on the split (REFERENCE: CRL-EGPG, item 7)."""

from __future__ import annotations

from pathlib import Path

import pytest

from paraform import corpora
from paraform.records import InputError, Origin, Pair, Sentence, Triple


@pytest.fixture
def qqp_pos(tmp_path: Path) -> Path:
    contents = {
        "train": {"src.txt": "how old are you ?\nwho ?\n", "tgt.txt": "what is your age ?\nwhich one ?\n"},
        "val": {"src.txt": "why ?\n", "tgt.txt": "is it so ?\n", "ref.txt": "for what reason ?\n"},
        "test": {"src.txt": "why ?\n", "tgt.txt": "is it so ?\n", "ref.txt": "for what reason ?\n"},
    }
    for split, files in contents.items():
        (tmp_path / split).mkdir()
        for name, text in files.items():
            (tmp_path / split / name).write_text(text)
    return tmp_path


def test_train_is_pairs(qqp_pos: Path) -> None:
    pairs = list(corpora.read(qqp_pos / "train", "qqp-pos"))
    assert pairs[0] == Pair(Sentence("how old are you ?"), Sentence("what is your age ?"))
    assert pairs[1].origin == Origin(str(qqp_pos / "train" / "src.txt"), 2)


@pytest.mark.parametrize("split", ["val", "test"])
def test_elsewhere_tgt_is_the_exemplar_and_ref_the_target(qqp_pos: Path, split: str) -> None:
    (triple,) = corpora.read_qqp_pos(qqp_pos / split)
    assert triple == Triple(Sentence("why ?"), Sentence("is it so ?"), Sentence("for what reason ?"))
    assert isinstance(triple, Triple)
    assert triple.target.origin == Origin(str(qqp_pos / split / "ref.txt"), 1)


def test_ref_in_train_changes_nothing(qqp_pos: Path) -> None:
    (qqp_pos / "train" / "ref.txt").write_text("other\n")
    assert all(isinstance(record, Pair) for record in corpora.read_qqp_pos(qqp_pos / "train"))


@pytest.mark.parametrize("skip", [False, True])
def test_a_test_split_without_references_is_an_error(qqp_pos: Path, skip: bool) -> None:
    (qqp_pos / "test" / "ref.txt").unlink()
    with pytest.raises(InputError, match=r"test/ref.txt: no such file$"):
        list(corpora.read_qqp_pos(qqp_pos / "test", skip_bad_lines=skip))


@pytest.mark.parametrize("skip", [False, True])
def test_files_of_different_lengths_are_an_error(qqp_pos: Path, skip: bool) -> None:
    (qqp_pos / "test" / "src.txt").write_text("why ?\nand ?\n")
    with pytest.raises(InputError, match=r"test/tgt.txt:2: the file ends before this line; src.txt goes on$"):
        list(corpora.read_qqp_pos(qqp_pos / "test", skip_bad_lines=skip))


def test_a_bad_line_in_one_file_skips_the_row_in_all(qqp_pos: Path) -> None:
    (qqp_pos / "train" / "tgt.txt").write_bytes(b"\xe9\nwhich one ?\n")
    with pytest.raises(InputError, match=r"train/tgt.txt:1: byte 1 is 0xE9"):
        list(corpora.read_qqp_pos(qqp_pos / "train"))
    (pair,) = corpora.read_qqp_pos(qqp_pos / "train", skip_bad_lines=True)
    assert pair == Pair(Sentence("who ?"), Sentence("which one ?"))


def test_the_wrong_folder(qqp_pos: Path) -> None:
    with pytest.raises(InputError, match=r"no src.txt; expected the folder of one split, such as .*train$"):
        list(corpora.read_qqp_pos(qqp_pos))
    with pytest.raises(InputError, match=r"not a folder; expected a split's folder"):
        list(corpora.read_qqp_pos(qqp_pos / "train" / "src.txt"))
