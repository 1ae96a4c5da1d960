"""Halves against a brute-force split, mined pairs against a loop, and the sets of real files."""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from sklearn.feature_extraction.text import TfidfVectorizer

from paraform.evaluation.embedding import robustness
from paraform.evaluation.embedding.detection import PairSet
from paraform.evaluation.embedding.retrieval import RetrievalSet, clustered
from paraform.evaluation.embedding.robustness import halves, mined_others, robustness_sets, tops_by
from paraform.evaluation.embedding.task import Choices
from paraform.records import InputError, Pair, Sentence
from paraform.syntax import annotate
from paraform.syntax.trees import read_tree, without_root

SENTENCES = [
    ("How do I learn chess?", "How do I study chess?"),
    ("Is chess hard to learn?", "How hard is it to learn chess?"),
    ("The old man sat on the bench.", "The tired man slept in a chair."),
    ("The old man sat on the bench.", "On the bench sat the old man, and he slept."),
    ("She sings.", "What a voice she has!"),
    ("They left early.", "We arrived late."),
]
PAIRS = [Pair(Sentence(left), Sentence(right), label=1) for left, right in SENTENCES]


def shapes(texts: Sequence[str]) -> list[tuple[str, ...]]:
    """A stand-in for a parser: the number of words, odd or even."""
    return [(str(len(text.split()) % 2),) for text in texts]


def test_halves_are_a_brute_force_split_by_our_parser() -> None:
    tops = []
    for sentence in annotate([side for pair in SENTENCES for side in pair], parser="syntax"):
        (clause,) = without_root(read_tree(sentence))
        tops.append([child.label for child in clause.children])
    same = [left == right for left, right in zip(tops[::2], tops[1::2], strict=True)]
    assert {True, False} == set(same)
    found = halves(PAIRS, tops_by("syntax"), len(PAIRS))
    assert found.easy == [pair for pair, easy in zip(PAIRS, same, strict=True) if easy]
    assert found.hard == [pair for pair, easy in zip(PAIRS, same, strict=True) if not easy]


def test_no_more_is_parsed_than_is_wanted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(robustness, "PARSED", 4)
    asked: list[str] = []

    def tops(texts: Sequence[str]) -> list[tuple[str, ...]]:
        asked.extend(texts)
        return shapes(texts)

    pairs = [Pair(Sentence("a " * (2 + at)), Sentence("b " * (2 + at % 3)), label=1) for at in range(40)]
    found = halves(pairs, tops, 2)
    assert len(found.easy) == len(found.hard) == 2
    assert len(asked) == 2 * 8  # the first pairs of different shapes are the fourth and the fifth
    everything = halves(pairs, shapes, 40)
    assert len(everything.easy) + len(everything.hard) == 40
    assert found.easy == everything.easy[:2] and found.hard == everything.hard[:2]


def test_halves_are_told_by_all_constituents() -> None:
    pairs = [Pair(Sentence("ab"), Sentence("ac"), label=1), Pair(Sentence("ab"), Sentence("ab."), label=1)]
    found = halves(pairs, lambda texts: [tuple(text.strip(".")) for text in texts], 2)
    assert found.easy == pairs[1:] and found.hard == pairs[:1]


def test_a_text_is_parsed_once(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[str] = []

    def parsed(texts: Sequence[str], **_: object) -> list[Sentence]:
        asked.extend(texts)
        return [Sentence(text, tree=f"(S (NP (NN {text})) (. .))") for text in texts]

    monkeypatch.setattr(robustness, "annotate", parsed)
    tops = tops_by("syntax")
    assert [*tops(["a", "b", "a"]), *tops(["b", "c"])] == [("NP", ".")] * 5
    assert asked == ["a", "b", "c"]


def test_others_are_mined_for_both_halves_of_a_file(tmp_path: Path) -> None:
    """As many as are wanted to measure on, and again as many to tune on."""
    lines = [f"learn {topic} here\tstudy {topic} there" for topic in "abcdefghijkl"]
    (tmp_path / "pairs.tsv").write_text("\n".join(lines) + "\n", encoding="utf-8")
    whole = robustness_sets(tmp_path / "pairs.tsv", Choices(size=4))[0]
    assert isinstance(whole, PairSet) and Counter(pair.label for pair in whole.pairs) == {1: 4, 0: 4}
    assert Counter(pair.label for pair in whole.tuning) == {1: 4, 0: 4}


def test_mined_others_are_the_nearest_of_another_cluster() -> None:
    texts = [
        f"{verb} {topic} {place}"
        for topic in ("chess", "yoga", "piano")
        for verb in ("learn", "teach")
        for place in ("here", "there")
    ]
    pairs = [Pair(Sentence(texts[at]), Sentence(texts[at + 1])) for at in range(0, len(texts), 2)]
    known = {side.text: pair.cluster for pair in clustered(pairs) for side in (pair.source, pair.target)}
    dense = TfidfVectorizer().fit_transform(texts).toarray()
    near = dense @ dense.T
    mined = mined_others(pairs, 5, seed=0)
    assert len(mined) == 5 == len({frozenset((pair.source.text, pair.target.text)) for pair in mined})
    for pair in mined:
        row, at = texts.index(pair.source.text), texts.index(pair.target.text)
        others = [column for column, text in enumerate(texts) if known[text] != known[texts[row]]]
        assert at in others and near[row, at] == pytest.approx(max(near[row, others]), abs=1e-6)
        assert pair.label == 0
    assert mined == mined_others(pairs, 5, seed=0) != mined_others(pairs, 5, seed=1)
    with pytest.raises(InputError, match="all of one cluster"):
        mined_others(pairs[:1], 5, seed=0)


def labelled(folder: Path, name: str, positives: int, others: int) -> Path:
    """PAWS's layout; odd paraphrases keep the number of words, even ones do not."""
    rows = [("one two three", f"four five s{at}" if at % 2 else f"four s{at}", 1) for at in range(positives)]
    rows += [(f"six seven n{at}", "eight nine", 0) for at in range(others)]
    lines = (f"{at}\t{left} p{at}\t{right}\t{label}\n" for at, (left, right, label) in enumerate(rows))
    (folder / name).write_text("".join(lines), encoding="utf-8")
    return folder / name


@pytest.fixture
def shaped(monkeypatch: pytest.MonkeyPatch) -> None:
    """Halves by the number of words, so that nothing is parsed."""
    monkeypatch.setattr(robustness, "tops_by", lambda parser, progress: shapes)


def sides(pairs: Sequence[Pair]) -> list[tuple[str, str, int | None]]:
    return [(pair.source.text, pair.target.text, pair.label) for pair in pairs]


def test_one_file_is_parted_in_two(tmp_path: Path, shaped: None) -> None:
    whole, easy, hard, retrieval = robustness_sets(labelled(tmp_path, "own.tsv", 41, 30), Choices(size=8))
    assert [one.name for one in (whole, easy, hard, retrieval)] == ["own", "own-Easy", "own-Hard", "own retrieval"]
    assert isinstance(retrieval, RetrievalSet) and len(retrieval.pairs) == 41
    tests = []
    for one in (whole, easy, hard):
        assert isinstance(one, PairSet)
        assert [pair.label for pair in one.pairs] == [1] * 8 + [0] * 8
        assert not set(sides(one.pairs)) & set(sides(one.tuning)) and one.tuning == whole.tuning
        assert one.settings.startswith("paraphrases:8|others:8 labelled|")
        assert one.settings.endswith("seed:0|tuned_on:the other half|tuning:16")
        tests.append(one)
    assert sides(tests[1].pairs[8:]) == sides(tests[2].pairs[8:]) == sides(tests[0].pairs[8:])
    assert all(len(left.split()) % 2 == len(right.split()) % 2 for left, right, _ in sides(tests[1].pairs[:8]))
    assert all(len(left.split()) % 2 != len(right.split()) % 2 for left, right, _ in sides(tests[2].pairs[:8]))
    assert "|trees:syntax-" in tests[1].settings and "trees" not in tests[0].settings

    again, *_ = robustness_sets(tmp_path / "own.tsv", Choices(size=8))
    other, *_ = robustness_sets(tmp_path / "own.tsv", Choices(size=8, seed=1))
    assert again.texts() == whole.texts() != other.texts()


@pytest.mark.parametrize(
    ("file", "name"), [("PAWS/dev.tsv", "PAWS"), ("own/dev.tsv", "dev"), ("paws/test.tsv", "PAWS"), ("x.tsv", "x")]
)
def test_a_file_is_called_by_its_folder_where_its_name_says_nothing(
    file: str, name: str, tmp_path: Path, shaped: None
) -> None:
    (tmp_path / file).parent.mkdir(exist_ok=True)
    found = robustness_sets(labelled(tmp_path, file, 11, 9), Choices(size=4))
    assert [one.name for one in found] == [name, f"{name}-Easy", f"{name}-Hard", f"{name} retrieval"]


def test_a_corpus_in_a_folder_is_one_set_tuned_on_its_dev_part(tmp_path: Path, shaped: None) -> None:
    (tmp_path / "paws").mkdir()
    for name in ("dev.tsv", "test.tsv"):
        labelled(tmp_path, f"paws/{name}", 11, 9)
    whole, *others = robustness_sets(tmp_path, Choices(size=4))
    assert [one.name for one in others] == ["PAWS-Easy", "PAWS-Hard", "PAWS retrieval"]
    assert whole.settings.endswith("tuned_on:dev.tsv|tuning:8")
    assert isinstance(whole, PairSet)
    assert [pair.source.text for pair in whole.tuning[:4]] != [f"one two three p{at}" for at in range(4)]  # drawn


def test_halves_are_of_the_size_of_the_smaller(tmp_path: Path, shaped: None) -> None:
    tuning = labelled(tmp_path, "tune.tsv", 3, 9)
    whole, easy, hard, _ = robustness_sets(labelled(tmp_path, "own.tsv", 11, 30), Choices(), tuning=tuning)
    # 11 paraphrases, of which 5 keep the number of words; a size of 11 and 5, and 3 of each to tune on
    assert [one.settings.split("|")[0] for one in (whole, easy, hard)] == ["paraphrases:11", *["paraphrases:5"] * 2]
    assert whole.settings.endswith("tuned_on:tune.tsv|tuning:6")


def test_paraphrases_of_one_form_have_no_halves(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(robustness, "tops_by", lambda parser, progress: lambda texts: [("NP", "VP")] * len(texts))
    path = labelled(tmp_path, "own.tsv", 8, 8)
    with caplog.at_level(logging.WARNING, "paraform"):
        assert [one.name for one in robustness_sets(path)] == ["own", "own retrieval"]
    assert f"{path}: of the paraphrases 4 have the same top-level constituents, 0 others" in caplog.text


def test_files_of_common_names_are_told_by_their_folders(tmp_path: Path, shaped: None) -> None:
    """Whatever else its folder's name has; another folder's `test.tsv`, though it comes first, is none of them."""
    files = {"a/test.tsv": "test", "a/dev.tsv": "dev", "My Quora 1/dev.tsv": "dev", "My Quora 1/test.tsv": "Quora"}
    files |= {"paws_wiki/dev.tsv": "PAWS", "paws_wiki/train.tsv": "train"}
    for number, file in enumerate(files, start=4):
        (tmp_path / file).parent.mkdir(exist_ok=True)
        labelled((tmp_path / file).parent, Path(file).name, number, 9)
    sets = robustness_sets(tmp_path)
    assert {one.name.split("-")[0].split()[0] for one in sets} == {"Quora", "PAWS"}
    counts = {one.name: len(one.pairs) for one in sets if isinstance(one, RetrievalSet)}
    assert counts == {"Quora retrieval": 7, "PAWS retrieval": 8}  # as many as that file was given
    for file, name in files.items():
        assert robustness_sets(tmp_path / file)[0].name == name


def test_real_files(data: Path, shaped: None) -> None:
    """Every corpus with its own train or dev part, but for PAWS, of which only dev is there."""
    sets = {one.name: one for one in robustness_sets(data)}
    names = [
        f"{name}{part}" for name in ("PAN", "MRPC", "Quora", "PAWS") for part in ("", "-Easy", "-Hard", " retrieval")
    ]
    assert list(sets) == names
    tuned = {name: sets[name].settings.split("tuned_on:")[1].split("|")[0] for name in ("PAN", "MRPC", "Quora", "PAWS")}
    assert tuned == {
        "PAN": "pan-train.labels",
        "MRPC": "msr_paraphrase_train.txt",
        "Quora": "dev.tsv",
        "PAWS": "the other half",
    }
    assert "paraphrases:1000|others:1000 mined by TF-IDF|" in sets["Quora"].settings
    assert "paraphrases:578|others:578 labelled|" in sets["MRPC"].settings  # the test part has no more others
    quora = sets["Quora"]
    assert isinstance(quora, PairSet)
    known = {
        side.text: pair.cluster
        for pair in clustered(sets["Quora retrieval"].pairs)
        for side in (pair.source, pair.target)
    }
    assert all(known[pair.source.text] != known[pair.target.text] for pair in quora.pairs if pair.label == 0)
    assert np.mean([pair.label for pair in quora.pairs]) == 0.5


def test_what_no_set_can_be_made_of(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"no labelled pairs; expected one of pan-test\.labels, "):
        robustness_sets(tmp_path)
    labelled(tmp_path, "msr_paraphrase_test.txt", 4, 4)
    lost = r"msr_paraphrase_train\.txt: no such file; expected it beside msr_paraphrase_test\.txt, for the threshold"
    with pytest.raises(InputError, match=f"{lost}; or name the file of the test pairs itself"):
        robustness_sets(tmp_path)
    with pytest.raises(InputError, match=r"own\.tsv:1: label 1, as of all 3 pairs"):
        robustness_sets(labelled(tmp_path, "own.tsv", 3, 0))
    own = labelled(tmp_path, "own.tsv", 3, 3)
    with pytest.raises(InputError, match=r"own\.tsv: to tune the threshold on what it is measured on; expected other"):
        robustness_sets(own, tuning=tmp_path / "." / "own.tsv")
    with pytest.raises(InputError, match=r"own\.tsv: one pair of a label; expected at least two of each"):
        robustness_sets(labelled(tmp_path, "own.tsv", 3, 1))
