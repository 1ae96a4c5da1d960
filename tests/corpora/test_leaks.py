"""Leaks from evaluation sets, against sentences written by hand and a search of the graph."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from paraform.corpora.evaluation_sets import read_evaluation_texts
from paraform.corpora.leaks import drop_overlap, normalised, overlap, overlaps, without_overlap
from paraform.corpora.pairs import read_pairs
from paraform.records import InputError, Pair, Sentence, Triple
from paraform.words import tokenize


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("You can't do that.", "you ca n't do that"),
        ("You can’t do “that”…", 'You can\'t do "that" ...'),
        ("the dog ( a pug ) runs", "The dog -LRB- a pug -RRB- runs !"),
        ("A t-shirt , 1.5 m", "a T - shirt, 1.5 m."),
        ("the girl 's hat", "The girl's hat"),
        ("Café", "cafe\u0301"),
        ("straße", "STRASSE"),
    ],
)
def test_case_punctuation_spacing_and_tokenisation_do_not_tell_apart(one: str, other: str) -> None:
    assert normalised(one) == normalised(other)


@pytest.mark.parametrize(
    ("one", "other"),
    [("What is C?", "What is C++?"), ("What is C?", "What is C#?"), ("1.5 m", "15 m"), ("café", "cafe"), ("?", "!")],
)
def test_what_is_another_sentence(one: str, other: str) -> None:
    assert normalised(one) != normalised(other)


def test_tokenised_questions_are_the_same_sentences(data: Path) -> None:
    pairs = list(read_pairs(data / "quora" / "dev.tsv"))[:500]
    texts = [pair.source.text for pair in pairs]
    assert [normalised(" ".join(tokenize(text)).lower()) for text in texts] == [normalised(text) for text in texts]


def test_counts_are_of_different_sentences() -> None:
    found = overlap(["A b.", "c", "a  B"], ["x", "a b", "A B!", "C"])
    assert found == (2, 3, (("A b.", "a b"), ("c", "C")))
    both = overlaps({"one": ["A b."], "two": ["c", "a b"]}, {"first": ["c d"], "second": ["C.", "a b ?"]})
    assert both.evaluation["first"].shared == ()
    assert both.evaluation["second"] == (2, 2, (("c", "C."), ("A b.", "a b ?")))
    assert both.training["one"] == (1, 3, (("A b.", "a b ?"),))


def test_captions_that_stand_in_sts_15(data: Path) -> None:
    """As a comparison of letters and digits alone has it: no caption here holds a sign or a point that counts."""

    def plain(texts: list[str]) -> set[str]:
        return {re.sub(r"[\W_]", "", text.lower()) for text in texts}

    files = data / "multi30k" / "test.tsv", data / "sts" / "STS15-en-test" / "STS.input.images.txt"
    captions, images = (list(read_evaluation_texts(file)) for file in files)
    found = overlap(captions, images)
    assert (len(images), found.evaluation) == (3000, len(plain(images)))
    assert len(found.shared) == len(plain(captions) & plain(images)) > 0


def pair(source: str, target: str, **rest: int) -> Pair:
    return Pair(Sentence(source), Sentence(target), **rest)


def test_whole_components_go() -> None:
    far, near = pair("a", "b"), pair("B", "c.")
    labelled = pair("c", "d", label=0)  # holds a sentence of the component, and leads no further
    apart = pair("D", "e")
    kept = without_overlap([far, near, labelled, apart], ["C ."])
    assert kept == ([apart], [near, labelled], [far])


def test_a_clusters_number_says_what_belongs_together() -> None:
    image = [pair("dog", "a dog", cluster=1), pair("dog", "leak", cluster=1)]
    other = pair("dog", "puppy", cluster=2)
    kept = without_overlap([*image, other], ["Leak!"])
    assert kept == ([other], [image[1]], [image[0]])


def test_exemplars_and_single_sentences() -> None:
    triple = Triple(Sentence("s"), Sentence("x"), Sentence("t"))
    other = Triple(Sentence("u"), Sentence("y"), Sentence("v"))
    same_exemplar = Triple(Sentence("p"), Sentence("y"), Sentence("q"))
    assert without_overlap([triple, other, same_exemplar], ["t"]).records == [other, same_exemplar]
    assert without_overlap([triple, other], ["Y"]) == ([triple], [other], [])
    assert without_overlap([Sentence("a"), Sentence("b")], ["A"]).records == [Sentence("b")]


LETTERS = st.sampled_from("abcdefghij")


@given(st.lists(st.tuples(LETTERS, LETTERS)), st.sets(LETTERS, max_size=2))
def test_what_is_left_cannot_reach_an_evaluation_sentence(edges: list[tuple[str, str]], evaluation: set[str]) -> None:
    reached = set(evaluation)
    for _ in edges:
        reached |= {side for edge in edges if reached & set(edge) for side in edge}
    kept = without_overlap([pair(*edge) for edge in edges], evaluation)
    assert kept.records == [pair(*edge) for edge in edges if not reached & set(edge)]
    assert kept.leaked == [pair(*edge) for edge in edges if evaluation & set(edge)]


@pytest.mark.parametrize(
    ("format", "text", "left", "counts"),
    [
        ("pairs", "a\tb\r\nLeak !\tc\r\nd\te\r\nc\tf\r\n", "a\tb\r\nd\te\r\n", (2, 1, 1)),
        ("captions", "a\tb\tleak\nb\tc\td\n", "b\tc\td\n", (1, 1, 0)),
        ("text", "a\nleak\nb\n", "a\nb\n", (2, 1, 0)),
        (
            "quora",
            'question1\tquestion2\tis_duplicate\n"x\ny"\tLeak\t1\nb\tc\t0\nx y\td\t1\n',
            "question1\tquestion2\tis_duplicate\nb\tc\t0\n",
            (1, 1, 1),
        ),
    ],
)
def test_a_training_file_without_leaks(
    format: str, text: str, left: str, counts: tuple[int, int, int], tmp_path: Path
) -> None:
    path, out = tmp_path / "train", tmp_path / "clean"
    path.write_bytes(text.encode())
    assert drop_overlap(path, out, ["leak"], format) == counts
    assert out.read_bytes().decode() == left


def test_a_file_of_which_nothing_is_left_is_not_written(tmp_path: Path) -> None:
    path, out = tmp_path / "train", tmp_path / "clean"
    path.write_text("leak\tb\n", encoding="utf-8")
    with pytest.raises(InputError, match=r"train: every record shares"):
        drop_overlap(path, out, ["leak"])
    path.write_text("a\tb\nleak\n", encoding="utf-8")
    with pytest.raises(InputError, match=r":2: 1 column"):
        drop_overlap(path, out, ["leak"])
    assert drop_overlap(path, out, ["leak"], skip_bad_lines=True) == (1, 0, 0)
    assert out.read_text(encoding="utf-8") == "a\tb\n"
