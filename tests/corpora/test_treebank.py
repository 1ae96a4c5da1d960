from __future__ import annotations

from pathlib import Path

import pytest

from paraform.corpora.treebank import read_treebank
from paraform.records import InputError, Origin, Sentence


def test_leaves(tmp_path: Path) -> None:
    path = tmp_path / "wsj.mrg"
    path.write_text(
        "\n\n( (S\n   (NP-SBJ (-NONE- *))\n   (VP (VB Go)\n     (PRN (-LRB- -LRB-) (ADVP (RB now)) (-RRB- -RRB-)))\n"
        "   (. .)))\n\n(ROOT (FRAG (UH é)))\n",
        encoding="utf-8",
    )
    first, second = read_treebank(path)
    assert first == Sentence(
        "Go ( now ) .",
        ("Go", "(", "now", ")", "."),
        ("VB", "-LRB-", "RB", "-RRB-", "."),
        "( (S (NP-SBJ (-NONE- *)) (VP (VB Go) (PRN (-LRB- -LRB-) (ADVP (RB now)) (-RRB- -RRB-))) (. .)))",
    )
    assert second == Sentence("é", ("é",), ("UH",), "(ROOT (FRAG (UH é)))")
    assert [first.origin, second.origin] == [Origin(str(path), 3), Origin(str(path), 9)]


def test_trees_of_a_line_and_of_a_folder(tmp_path: Path) -> None:
    (tmp_path / "b.mrg").write_text("(NP (NN b)) (NP (NN c)\n)(NP ( -LRB-)( ))\n")
    (tmp_path / "a").mkdir()
    (tmp_path / "a" / "a.mrg").write_text("(NP (NN a))\n")
    found = list(read_treebank(tmp_path))
    assert [sentence.tokens for sentence in found] == [("a",), ("b",), ("c",), ("(",)]
    assert [sentence.origin.line for sentence in found if sentence.origin] == [1, 1, 1, 2]
    assert found[3].tags == ("-LRB-",)
    (tmp_path / "empty").mkdir()
    with pytest.raises(InputError, match=r"empty: no \.mrg file"):
        list(read_treebank(tmp_path / "empty"))


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"(S (NN a))\n\n(S (NN b)\n(S (NN c))\n", r":3: the tree that begins here is not closed \(1 brackets open\)"),
        (b"(S (NN a)))\n", ":1: a closing bracket too many"),
        (b"(S (NN a))\nplain text\n", r":2: 'plain text' outside a tree; expected bracketed trees"),
        (b"(S (-NONE- *))\n", ":1: .* has no leaf"),
        (b"(S (NN a)\n (X))\n", r":1: \(X\) has no word; expected \(TAG word\)"),
        (b"\n \n", ":1: no tree"),
        (b"", ":1: the file is empty"),
        (b"(S (NN a))\n(S (NN caf\xe9))\n", ":2: byte 11 is 0xE9, which is not UTF-8"),
        (b"(S (NN a\0))\n", ":1: byte 9 is NUL"),
    ],
)
def test_bad_files(content: bytes, message: str, tmp_path: Path) -> None:
    path = tmp_path / "bad.mrg"
    path.write_bytes(content)
    with pytest.raises(InputError, match=r"bad\.mrg" + message):
        list(read_treebank(path))
    with pytest.raises(InputError, match="no such file"):
        list(read_treebank(tmp_path / "absent.mrg"))


def test_real_gum(data: Path) -> None:
    """Every leaf by a count of its own: as many words as there are `(TAG word)` with no bracket inside."""
    path = data / "treebank" / "gum" / "test" / "news.mrg"
    sentences = list(read_treebank(path))
    text = path.read_text(encoding="utf-8")
    opened = [part.split(")")[0].split() for part in text.split("(")]
    assert sum(len(sentence.tokens) for sentence in sentences) == sum(len(part) == 2 for part in opened)
    assert all(len(sentence.tokens) == len(sentence.tags) for sentence in sentences)
