"""The training sentence that is nearest to each sample."""

from __future__ import annotations

import pytest

from paraform.evaluation.latent import nearest_sentences


def test_the_nearest_is_that_of_the_fewest_edits_of_words() -> None:
    training = ["a dog ran off", "The cat sat on the mat", "the cat sat", "it rains"]
    found = nearest_sentences(["the cat SAT on a mat", "the cat sat", "it", "zxcv"], training)
    assert [near.text for near in found] == [training[1], training[2], training[3], training[0]]
    # 1 − edits / words of the longer one, a replaced word being one edit.
    assert [near.similarity for near in found] == pytest.approx([5 / 6, 1, 1 / 2, 0])


def test_words_are_what_the_model_reads() -> None:
    from paraform.words import tokenize

    said, training = ["How much is it?"], ["how much is it ?", "how much is that ?"]
    assert nearest_sentences(said, training)[0].similarity == pytest.approx(3 / 5)
    assert nearest_sentences(said, training, tokenize)[0] == (training[0], 1.0)


def test_the_first_of_several_and_none_at_all() -> None:
    assert nearest_sentences(["a b"], ["a c", "a d"])[0].text == "a c"
    assert nearest_sentences([], ["a"]) == []
    with pytest.raises(ValueError, match="0 training sentences"):
        nearest_sentences(["a"], [])
