"""Sets without what stands in training data, against lists made by hand."""

from __future__ import annotations

import pytest

from paraform.corpora.probing import ProbingExample
from paraform.corpora.senteval import LabelledText
from paraform.evaluation.embedding.detection import PairSet
from paraform.evaluation.embedding.probing import ProbingSet
from paraform.evaluation.embedding.regression import RegressionSet
from paraform.evaluation.embedding.shared_words import SharedWordSet, WordPair, shared_words
from paraform.evaluation.embedding.similarity import SimilaritySet, Splits
from paraform.evaluation.embedding.transfer import TransferSet
from paraform.records import Pair, Sentence
from paraform_papers.par.unseen import unseen_tasks, unseen_words

TRAINING = ["A dog ca n't sleep .", "cats sing"]


def pair(left: str, right: str, score: float) -> Pair:
    return Pair(Sentence(left), Sentence(right), score=score)


LEAKED = pair("a dog can't sleep", "it sleeps", 1.0)
CLEAN = [pair("we sing", "they sing", 4.0), pair("we sing", "it rains", 0.5)]


def test_of_similarity_pairs_and_domains_go() -> None:
    one = SimilaritySet("STS12", {"news": [LEAKED, *CLEAN], "led": [LEAKED, CLEAN[0]], "whole": CLEAN})
    (made,) = unseen_tasks([one, SimilaritySet("STS13", {"whole": CLEAN})], TRAINING)
    assert isinstance(made, SimilaritySet) and made.name == "STS12, unseen"
    assert made.domains == {"news": CLEAN, "whole": CLEAN}
    assert not unseen_tasks([SimilaritySet("STS13", {"led": [LEAKED, CLEAN[0]]})], TRAINING)  # nothing to correlate


def test_what_probes_are_trained_on_stays() -> None:
    trained = RegressionSet("SICK-R", Splits([LEAKED], CLEAN, [LEAKED, *CLEAN]), 0, 5)
    rows = [
        LabelledText("Cats sing!", "x", 1, "train", None),
        LabelledText("Cats sing!", "x", 1, "test", None),
        LabelledText("x", "cats sing", 1, "test", None),
        LabelledText("x", "y", 0, "test", None),
    ]
    split = TransferSet("MRPC", rows)
    folds = TransferSet("MR", [LabelledText(text, None, 0, "", None) for text in ("cats sing", "x", "y")])
    probing = ProbingSet(
        "BShift", [ProbingExample(part, "I", text) for part in ("tr", "te") for text in ("cats sing", "x")], "set:own"
    )
    found = unseen_tasks([trained, split, folds, probing], TRAINING)
    assert [task.name for task in found] == [f"{name}, unseen" for name in ("SICK-R", "MRPC", "MR", "BShift")]
    assert isinstance(found[0], RegressionSet) and found[0].parts == ([LEAKED], CLEAN, CLEAN)
    assert isinstance(found[1], TransferSet) and list(found[1].rows) == [rows[0], rows[3]]
    assert found[2].texts() == ["x", "y"] and found[3].texts() == ["cats sing", "x", "x"]
    assert not unseen_tasks([trained, split, folds, probing], ["of another kind"])
    with pytest.raises(TypeError, match="PairSet; expected similarity, transfer or probing"):
        unseen_tasks([PairSet.__new__(PairSet)], TRAINING)


def test_pairs_of_words_go_with_either_sentence() -> None:
    def both(left: str, right: str) -> WordPair:
        words = tuple(left.split()), tuple(right.split())
        return WordPair(*words, shared_words(*words))

    led, turned = both("A dog ca n't sleep .", "dogs ca n't"), both("who sings", "Cats sing !")
    clean, other = both("we sing", "they sing"), both("we sing", "we run")
    one = SharedWordSet("MRPC", [led, clean], [turned, other], [], False, "words:all")
    (made,) = unseen_words([one, SharedWordSet("PAN", [clean], [other], [], False, "")], TRAINING)
    assert (made.name, made.paraphrases, made.others) == ("MRPC, unseen", [clean], [other])
    assert made.settings == "words:all|unseen:1 and 1"
    assert not unseen_words([SharedWordSet("MRPC", [led], [other], [], False, "")], TRAINING)  # nothing to compare
