"""Spaces of vectors and of words alone."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest
from numpy.typing import NDArray
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.metrics.pairwise import cosine_similarity

from paraform.evaluation.embedding.space import Judged, VectorSpace, embedded, floors, shared_words, tf_idf
from paraform.records import InputError

POINTS = {"east": (2.0, 0.0), "north": (0.0, 0.5), "northeast": (3.0, 3.0), "nowhere": (0.0, 0.0)}


@pytest.mark.parametrize("scale", [1.0, 1e-30, 1e30])  # of which squares are nothing, and infinity, in float32
def test_cosines_whatever_the_lengths(scale: float) -> None:
    asked: list[str] = []

    def embed(texts: Sequence[str]) -> NDArray[np.float32]:
        asked.extend(texts)
        return np.array([POINTS[text] for text in texts], np.float32) * np.float32(scale)

    space = embedded(embed, [*POINTS, "east"], name="compass", signature="points:4")
    assert asked == list(POINTS)
    assert isinstance(space, VectorSpace)
    half = 0.5**0.5
    found = space.similarity(["east", "east", "northeast", "nowhere"], ["north", "east", "north", "east"])
    assert found == pytest.approx([0, 1, half, 0])
    assert space.block(["northeast", "nowhere"], ["east", "north"]) == pytest.approx(np.array([[half, half], [0, 0]]))
    assert space.vectors(["northeast", "east"]) == pytest.approx(np.array([[3, 3], [2, 0]]) * np.float32(scale))


@pytest.mark.parametrize("wrong", [np.zeros((1, 2), np.float32), np.array([[1.0, np.nan], [0, 1]], np.float32)])
def test_what_embed_must_give(wrong: NDArray[np.float32]) -> None:
    with pytest.raises(InputError, match=r"^mine: embed gave"):
        embedded(lambda texts: wrong, ["a", "b"], name="mine", signature="")


TEXTS = ["The cat sat on the mat.", "the CAT sat", "Dogs bark at the cat!", "no one here", "", "the cat sat"]


def test_shared_words_are_jaccards() -> None:
    space = shared_words(TEXTS)
    words = [
        {"the", "cat", "sat", "on", "mat", "."},
        {"the", "cat", "sat"},
        {"dogs", "bark", "at", "the", "cat", "!"},
        {"no", "one", "here"},
        set(),
        {"the", "cat", "sat"},
    ]
    expected = np.array([[len(a & b) / len(a | b) if a | b else 0.0 for b in words] for a in words])
    assert space.block(TEXTS, TEXTS) == pytest.approx(expected)
    lefts = [left for left in TEXTS for _ in TEXTS]
    assert space.similarity(lefts, TEXTS * len(TEXTS)) == pytest.approx(expected.ravel())
    assert not isinstance(space, VectorSpace)


def test_tf_idf_is_scikit_learns_fitted_on_each_text_once(monkeypatch: pytest.MonkeyPatch) -> None:
    space = tf_idf([*TEXTS, *TEXTS])
    assert isinstance(space, VectorSpace)
    vectorizer = TfidfVectorizer().fit(TEXTS)
    dense = vectorizer.transform(TEXTS).toarray()
    assert space.block(TEXTS[:2], TEXTS) == pytest.approx(cosine_similarity(dense[:2], dense), abs=1e-6)
    assert space.similarity(TEXTS, TEXTS[::-1]) == pytest.approx(
        np.diag(cosine_similarity(dense, dense[::-1])), abs=1e-6
    )
    assert "fitted:6|" in space.signature

    # The two words that most texts have: cat and the, each in four of them.
    monkeypatch.setattr("paraform.evaluation.embedding.space.COMMONEST", 2)
    few = tf_idf(TEXTS)
    assert few.vectors(TEXTS) == pytest.approx(
        dense[:, [vectorizer.vocabulary_["cat"], vectorizer.vocabulary_["the"]]], abs=1e-6
    )
    assert few.similarity(TEXTS, TEXTS) == pytest.approx([1, 1, 1, 1, 0, 1])


def test_a_text_of_another_call_is_no_text_of_the_space() -> None:
    for space in floors(TEXTS):
        with pytest.raises(KeyError):
            space.similarity(["a stranger"], TEXTS[:1])
        with pytest.raises(ValueError, match="1 lefts, 2 rights"):
            space.similarity(TEXTS[:1], TEXTS[:2])


def test_a_floor_without_words_is_left_out_and_the_rest_is_kept(caplog: pytest.LogCaptureFixture) -> None:
    with pytest.raises(InputError, match="none of 2 texts has a word of two letters"):
        tf_idf(["?", "a b"])
    for texts, names, warnings in (
        (["?", "a b"], ["shared words"], ["TF-IDF: none of 2 texts has a word of two letters; expected some"]),
        ([" ", ""], [], ["shared words: none of 2 texts has a word; expected some", "TF-IDF: none of 2"]),
        (TEXTS, ["shared words", "TF-IDF"], []),
    ):
        caplog.clear()
        assert [space.name for space in floors(texts)] == names
        for message, expected in zip(caplog.messages, warnings, strict=True):
            assert message.startswith(expected) and message.endswith("; this floor is left out")


def test_a_judge_is_asked_once_of_each_pair_that_has_two_texts() -> None:
    asked: list[tuple[str, str]] = []

    def judge(pairs: Sequence[tuple[str, str]]) -> NDArray[np.float32]:
        asked.extend(pairs)
        return np.array([len(one) / 10 for one, _ in pairs], np.float32)

    space = Judged("judge", "weights:1", judge)
    found = space.similarity(["a", "ab", "a", " "], ["b", "c", "b", "d"])
    assert found == pytest.approx([0.1, 0.2, 0.1, 0]) and asked == [("a", "b"), ("ab", "c")]
