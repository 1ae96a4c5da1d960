"""Re-created probing sets, against trees of which the answers are known; parts that share no sentence."""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import pytest

from paraform.corpora.leaks import normalised
from paraform.evaluation.embedding import recreated
from paraform.evaluation.embedding.recreated import (
    TreebankSentence,
    bigram_shift,
    recreate,
    sentence_length,
    thinned,
    top_constituent_sequence,
    tree_depth,
    treebank_parts,
    word_content,
)
from paraform.records import InputError
from paraform.syntax.trees import Tree
from paraform.words import detokenize


def sentence(words: str | Sequence[str], tree: str = "(S (NN x))", part: str = "tr") -> TreebankSentence:
    split = tuple(words.split() if isinstance(words, str) else words)
    return TreebankSentence(part, split, detokenize(split), Tree.parse(tree))


def test_half_of_each_part_has_two_words_exchanged() -> None:
    texts = [f"The w{row} cat does n't see v{row} mice , it runs ." for row in range(40)]
    counts = {"tr": 20, "va": 10, "te": 10}
    sentences = [sentence(text, part=part) for part, count in counts.items() for text in texts[:count]]
    examples = bigram_shift(sentences, 0)
    assert Counter((one.part, one.label) for one in examples) == {
        (part, label): count for part, count in (("tr", 10), ("va", 5), ("te", 5)) for label in "IO"
    }
    places = set()
    for one, made in zip(sentences, examples, strict=True):
        swapped = {
            detokenize((*one.words[:at], one.words[at + 1], one.words[at], *one.words[at + 2 :])): at
            for at in range(len(one.words) - 1)
        }
        assert (made.text == one.text) == (made.label == "O")
        if made.label == "I":
            places.add(swapped[made.text])
    # Not the first word, not beside `n't`, the comma or the full stop: w0 cat, cat does, see v0, v0 mice, it runs.
    assert places == {1, 2, 5, 6, 9}


def test_a_sentence_without_two_such_words_is_left_out() -> None:
    assert bigram_shift([sentence("Very very VERY , yes ."), sentence("Go on .")], 0) == []


def chain(depth: int) -> str:
    return "(ROOT " + "(S " * (depth - 1) + "(NN x)" + ")" * (depth - 1) + ")"


def test_depth_is_counted_from_the_sentence_to_a_tag() -> None:
    sentences = [sentence("a b c d", chain(depth)) for depth in range(3, 15)]
    assert [one.label for one in tree_depth(sentences, 0)] == [str(depth) for depth in range(5, 13)]
    several = sentence("a b c d", "(ROOT (S (S (S (S (NN a))))) (NP (NN b)))")
    assert tree_depth([several], 0) == []


def test_depths_are_thinned_length_by_length(monkeypatch: pytest.MonkeyPatch) -> None:
    sentences = [sentence(["w"] * words, chain(depth)) for depth in (5, 6) for words in (4, 5) for _ in range(words)]
    monkeypatch.setattr(recreated, "MOST_OF_LENGTH", 4)
    assert Counter(one.label for one in tree_depth(sentences, 0)) == {"5": 8, "6": 8}


def test_common_sequences_and_other(monkeypatch: pytest.MonkeyPatch) -> None:
    def clauses(label: str, below: str, count: int) -> list[TreebankSentence]:
        tree = f"(ROOT ({label} {' '.join(f'({name} x)' for name in below.split())}))"
        return [sentence(f"{label} {below} {row}", tree) for row in range(count)]

    sentences = [
        *clauses("S", "NP VP .", 9),
        *clauses("SBARQ", "WHNP SQ ?", 3),
        *clauses("SBARQ", "WHNP SQ .", 2),
        *clauses("S", "PP NP VP .", 2),
        *clauses("FRAG", "NP VP .", 9),
    ]
    monkeypatch.setattr(recreated, "LEAST_TOP", 3)
    monkeypatch.setattr(recreated, "MOST_TOP", 6)
    found = top_constituent_sequence(sentences, 0)
    assert Counter(one.label for one in found) == {"NP_VP_.": 6, "WHNP_SQ_.": 5, "OTHER": 2}
    monkeypatch.setattr(recreated, "LEAST_TOP", 2)
    monkeypatch.setattr(recreated, "TOP_CLASSES", 3)
    found = top_constituent_sequence(sentences, 0)
    assert set(one.label for one in found) == {"NP_VP_.", "WHNP_SQ_.", "OTHER"}


def test_lengths_in_words() -> None:
    sentences = [sentence(["w"] * words) for words in range(4, 31)]
    counts = Counter(one.label for one in sentence_length(sentences, 0))
    assert counts == {"5-8": 4, "9-12": 4, "13-16": 4, "17-20": 4, "21-25": 5, "26-28": 3}


def test_a_sentence_holds_one_of_the_words_and_a_rare_one_makes_way(monkeypatch: pytest.MonkeyPatch) -> None:
    """`red` stands alone in 3 sentences, `blue` in 3, `green` in 1 and in 2 with `blue`: struck off, it frees these."""
    texts = ["the red x1", "the red x2", "the Red x3", "the blue x4", "the blue x5", "the blue x6", "the red blue x7"]
    texts += ["the green x8", "the green blue x9", "the green blue x0"]
    monkeypatch.setattr(recreated, "COMMON_WORDS", 1)
    monkeypatch.setattr(recreated, "LEAST_WORD", 3)
    found = word_content([sentence(text) for text in texts])
    assert Counter(one.label for one in found) == {"red": 3, "blue": 5}
    assert {one.text for one in found if "green" in one.text} == {"the green blue x9", "the green blue x0"}


def test_thinning_keeps_order_and_small_groups_whole() -> None:
    kept = thinned(range(100), lambda number: number % 10 == 0, 20, seed=1)
    assert kept == sorted(kept) and len(kept) == 30
    assert {number for number in kept if number % 10 == 0} == set(range(0, 100, 10))
    assert thinned(range(100), lambda number: 0, 20, seed=1) != thinned(range(100), lambda number: 0, 20, seed=2)


def test_small_treebanks_give_the_sets_that_they_can(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    for folder, count in (("train", 12), ("dev", 4), ("test", 4)):
        (tmp_path / folder).mkdir()
        lines = [f"(S (NP (DT The) (NN {folder}{row})) (VP (VB sees) (NP (NN mice))) (. .))" for row in range(count)]
        (tmp_path / folder / "x.mrg").write_text("\n".join(lines), encoding="utf-8")
    with caplog.at_level(logging.WARNING, "paraform"):
        assert list(recreate(tmp_path)) == ["BShift"]
    assert "20 sentences: too few for TreeDepth, TopConst, SentLen, WordContent; left out" in caplog.text
    (tmp_path / "test" / "x.mrg").write_text("(S (NP (NN a) (, ,) (NN c) (, ,)) (VP (VB d)))", encoding="utf-8")
    with pytest.raises(InputError, match="17 sentences: too few for BShift, TreeDepth, TopConst"):
        recreate(tmp_path)


def test_every_label_that_is_asked_for_was_trained(data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(recreated, "LEAST_TOP", 10)
    monkeypatch.setattr(recreated, "LEAST_WORD", 8)
    sets = recreate(data / "treebank" / "gum" / "test")
    assert list(sets) == ["BShift", "TreeDepth", "TopConst", "SentLen", "WordContent"]
    for examples in sets.values():
        trained = Counter(one.label for one in examples if one.part == "tr")
        assert all(trained[one.label] > 1 for one in examples)
        assert {one.part for one in examples} == {"tr", "va", "te"}


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
