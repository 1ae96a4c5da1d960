"""Shared words against a loop over places, mined pairs against what they must be, and files that cannot be used."""

from __future__ import annotations

import itertools
from pathlib import Path

import pytest

from paraform.evaluation.embedding.retrieval import clustered
from paraform.evaluation.embedding.shared_words import SharedDraw, mined_pairs, shared_word_sets, shared_words
from paraform.records import InputError, Pair, Sentence
from paraform.words import STOP_WORDS, tokenize


@pytest.mark.parametrize("skip", [False, True])
def test_shared_words_are_those_of_a_loop_over_places(skip: bool) -> None:
    left = tokenize("The dog saw THE cat at 10 , and the dog ran !")
    right = tokenize("A dog ran at 10 past the cats , the dog did !")
    found = {
        (shared.word, one, other)
        for shared in shared_words(left, right, skip_stopwords=skip)
        for one, other in itertools.product(shared.left, shared.right)
    }
    expected = {
        (ours.lower(), one, other)
        for (one, ours), (other, theirs) in itertools.product(enumerate(left), enumerate(right))
        if ours.lower() == theirs.lower() and any(map(str.isalnum, ours))
    }
    if skip:
        expected = {place for place in expected if place[0] in ("dog", "ran")}
    assert found == expected and ("dog", 1, 1) in found and ("dog", 10, 10) in found


def test_stop_words_are_words_as_the_tokenizer_cuts_them() -> None:
    assert all(word == word.lower() and word.strip() == word for word in STOP_WORDS)
    assert set(map(str.lower, tokenize("It isn't what I'd say, we're not."))) - STOP_WORDS == {"say", ",", "."}
    assert not {"good", "bad", "large", "small", "bigger", "people"} & STOP_WORDS


PAIRS = [
    Pair(Sentence(f"learn {topic} {place}"), Sentence(f"study {topic} {place} {topic}"))
    for topic in ("chess", "yoga", "piano")
    for place in ("here", "there")
]


def test_mined_pairs_have_a_shared_word_and_no_common_cluster() -> None:
    pairs = clustered([*PAIRS, Pair(Sentence("only words"), Sentence("of only this"))])
    words = {side.text: tuple(tokenize(side.text)) for pair in pairs for side in (pair.source, pair.target)}
    cluster = {words[side.text]: pair.cluster for pair in pairs for side in (pair.source, pair.target)}
    mined = mined_pairs(pairs, pairs, words)
    assert len(mined) == len(PAIRS)  # the last one's shared word stands in no other cluster
    for pair, found in zip(pairs, mined, strict=False):
        assert found.left in (words[pair.source.text], words[pair.target.text])
        assert cluster[found.right] != pair.cluster == cluster[found.left]
        # one word of the two sentences drew the other
        assert {one.word for one in found.shared} & {one.word for one in shared_words(*map(words.get, sides(pair)))}
        assert found.shared == shared_words(found.left, found.right)
    assert mined == mined_pairs(pairs, pairs, words) != mined_pairs(pairs, pairs, words, seed=1)
    several = [mined_pairs(pairs[:1], pairs, words, seed=seed)[0].right for seed in range(200)]
    others = {one for one in cluster if cluster[one] != 0 and ("chess" in one or "here" in one)}
    assert set(several) == others  # all that have a shared word can be drawn


def sides(pair: Pair) -> tuple[str, str]:
    return pair.source.text, pair.target.text


def written(folder: Path, name: str, rows: list[tuple[object, ...]]) -> Path:
    (folder / name).write_text("".join("\t".join(map(str, row)) + "\n" for row in rows), encoding="utf-8")
    return folder / name


def labelled(folder: Path, *rows: tuple[str, str, int]) -> Path:
    return written(folder, "own.tsv", [(at, *row) for at, row in enumerate(rows)])  # PAWS's layout


def test_labelled_pairs_are_as_they_are_labelled(tmp_path: Path) -> None:
    path = labelled(
        tmp_path, ("a b", "b c", 1), ("a b", "x y", 1), ("a d", "e d ,", 0), ("a ,", "b ,", 0), ("q", "q", 0)
    )
    (found,) = shared_word_sets(path)
    assert [(" ".join(pair.left), " ".join(pair.right)) for pair in found.paraphrases] == [("a b", "b c")]
    assert [[shared.word for shared in pair.shared] for pair in found.others] == [["d"], ["q"]]
    assert not found.mined and found.name == "own"
    assert found.settings == (
        "words:penn-treebank, lower-cased|stopwords:kept|places:every two, averaged|paraphrases:1|others:2 labelled|"
        "without_shared_word:1 and 1|cut:0|seed:0"
    )
    assert {" ".join(words) for words in found.sentences} == {"a b", "b c", "x y", "a d", "e d ,", "a ,", "b ,", "q"}


def test_without_labels_others_are_mined_and_long_sentences_are_cut(tmp_path: Path) -> None:
    path = written(tmp_path, "pairs.tsv", [sides(pair) for pair in PAIRS])
    (found,) = shared_word_sets(path, fitting=lambda sentences: [min(3, len(words)) for words in sentences])
    assert found.mined and len(found.others) == len(PAIRS)
    assert "|others:6 mined by a shared word|without_shared_word:0 and 0|cut:6|" in found.settings
    assert all(len(side) <= 3 for pair in [*found.paraphrases, *found.others] for side in pair[:2])
    (drawn,) = shared_word_sets(path, SharedDraw(size=2))
    assert len(drawn.paraphrases) == len(drawn.others) == 2
    assert {pair.left for pair in drawn.paraphrases} <= {tuple(tokenize(pair.source.text)) for pair in PAIRS}


@pytest.mark.parametrize(
    ("rows", "said"),
    [
        ([("a", "b", 1), ("a c", "d", 1)], "own.tsv:1: no shared word in any of 2 paraphrases; expected pairs of"),
        ([("a", "a", 1), ("c", "d", 0)], "own.tsv:1: no shared word in any of 1 non-paraphrase; expected pairs of"),
        ([("a", "a", 0), ("c", "c", 0)], "own.tsv:1: label 0, as of all 2 pairs; expected paraphrases among them"),
        ([("a", "a", 1), ("c", "c", 1)], "own.tsv:1: 2 pairs of paraphrases, no shared word of which stands in anoth"),
        ([("a", "a", 2)], "expected"),
    ],
)
def test_files_that_cannot_be_used(tmp_path: Path, rows: list[tuple[str, str, int]], said: str) -> None:
    with pytest.raises(InputError, match=said.replace(".", r"\.")):
        shared_word_sets(labelled(tmp_path, *rows))


def test_a_folder_has_the_test_files_of_known_sets(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"no pairs; expected one of pan-test\.labels"):
        shared_word_sets(tmp_path)
    with pytest.raises(InputError, match="a folder; expected a file, if columns"):
        shared_word_sets(tmp_path, columns=("a", "b", "c"))
    for name in ("dev", "test"):
        (tmp_path / "quora").mkdir(exist_ok=True)
        written(tmp_path / "quora", f"{name}.tsv", [sides(pair) for pair in PAIRS[: 4 if name == "dev" else 6]])
    (found,) = shared_word_sets(tmp_path)
    assert found.name == "Quora" and len(found.paraphrases) == 6
