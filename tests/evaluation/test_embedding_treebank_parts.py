"""Parts of a treebank that share no document and no sentence."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from paraform.corpora.leaks import normalised
from paraform.evaluation.embedding.treebank_parts import treebank_parts
from paraform.records import InputError


def tree(*words: str) -> str:
    return f"(S (NP {' '.join(f'(NN {word})' for word in words[:-1])}) (VP (VB {words[-1]})) (. .))"


def write(path: Path, documents: list[list[str]], between: str = "\n\n\n") -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(between.join("\n".join(trees) for trees in documents), encoding="utf-8")


def test_folders_say_whose_part_a_file_is_and_a_sentence_stands_once(tmp_path: Path) -> None:
    write(tmp_path / "gum/train/news.mrg", [[tree("a", "b", "runs"), tree("c", "d", "runs")]])
    write(tmp_path / "gum/test/news.mrg", [[tree("A", "b", "runs"), tree("e", "f", "runs")]])
    write(tmp_path / "gum/dev/news.mrg", [[tree("g", "h", "runs"), tree("too", "short")]])
    found = [(one.part, one.text) for one in treebank_parts(tmp_path, seed=0)]
    assert found == [("tr", "a b runs."), ("tr", "c d runs."), ("va", "g h runs."), ("te", "e f runs.")]


@pytest.mark.parametrize("blank", ["\n\n\n", "\n"])
def test_whole_documents_are_dealt(blank: str, tmp_path: Path) -> None:
    """Where a file has no blank lines, runs of 20 sentences are documents; here documents have 20 sentences too."""
    documents = [[tree(f"d{number}", f"s{row}", "runs") for row in range(20)] for number in range(30)]
    write(tmp_path / "wsj.mrg", documents, blank)
    found = treebank_parts(tmp_path / "wsj.mrg", seed=3)
    parts = {document: {one.part for one in found if one.words[0] == f"d{document}"} for document in range(30)}
    assert all(len(some) == 1 for some in parts.values())
    assert Counter(next(iter(some)) for some in parts.values()) == {"tr": 24, "va": 3, "te": 3}
    assert treebank_parts(tmp_path / "wsj.mrg", seed=3) == found
    assert treebank_parts(tmp_path / "wsj.mrg", seed=4) != found


def test_words_are_those_of_a_text(tmp_path: Path) -> None:
    leaves = "(JJ all) (HYPH -) (NN girl) (NN team) (-LRB- -LRB-) (CD 1\\/2) (-RRB- -RRB-) (VB do) (RB n't) (-NONE- *)"
    write(tmp_path / "x.mrg", [[f"(S (NP {leaves}))"]])
    (one,) = treebank_parts(tmp_path, seed=0)
    assert one.words == ("all-girl", "team", "(", "1/2", ")", "do", "n't")
    assert one.text == "all-girl team (1/2) don't"


def test_nothing_to_split(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"no \.mrg file"):
        treebank_parts(tmp_path, seed=0)
    write(tmp_path / "x.mrg", [[tree("too", "short")]])
    with pytest.raises(InputError, match="no sentence of 4 to 40 words"):
        treebank_parts(tmp_path, seed=0)


def test_real_parts_share_no_sentence(data: Path) -> None:
    """Of GUM's test texts alone, in a folder whose name does not count."""
    found = treebank_parts(data / "treebank" / "gum" / "test", seed=1)
    texts = [normalised(one.text) for one in found]
    assert len(texts) == len(set(texts))
    shares = Counter(one.part for one in found)
    assert all(0.05 < shares[part] / len(found) < 0.2 for part in ("va", "te"))
