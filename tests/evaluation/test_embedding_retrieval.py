"""The place of a paraphrase among all sentences, against a loop."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray

from paraform.evaluation.embedding import retrieval
from paraform.evaluation.embedding.retrieval import RetrievalSet, clustered, retrieval_set
from paraform.evaluation.embedding.space import embedded
from paraform.records import InputError, Pair, Sentence

TEXTS = [f"{first} {second} {third}" for first in "abc" for second in "defg" for third in "hi"]  # 24
VECTORS = dict(
    zip(TEXTS, np.random.default_rng(3).normal(size=(len(TEXTS), 3)).round(1).astype(np.float32), strict=True)
)


def embed(texts: list[str]) -> NDArray[np.float32]:
    return np.stack([VECTORS[text] for text in texts])


def random_pairs() -> list[Pair]:
    """Three sentences to a cluster: 0-1, 1-2, 3-4, 4-5, …"""
    edges = [(at, at + 1) for at in range(len(TEXTS) - 1) if at % 3 < 2]
    return [Pair(Sentence(TEXTS[a]), Sentence(TEXTS[b]), label=1) for a, b in edges]


def test_ranks_are_those_of_a_loop(monkeypatch: pytest.MonkeyPatch) -> None:
    pairs = random_pairs()
    one = retrieval_set("toy", pairs)
    space = embedded(embed, one.texts(), name="random", signature="")
    units = {text: vector / np.linalg.norm(vector) for text, vector in VECTORS.items()}
    expected = []
    for pair in pairs:
        source, target = pair.source.text, pair.target.text
        wrong = [text for at, text in enumerate(TEXTS) if at // 3 != TEXTS.index(source) // 3]
        near = units[source] @ units[target]
        expected.append(1 + sum(bool(units[source] @ units[text] >= near) for text in wrong))
    monkeypatch.setattr(retrieval, "BLOCK", 5)
    ranks = one.ranks(space)
    assert ranks.tolist() == expected

    findings = {(found.score.name, found.score.subset): found for found in one.measure(space)}
    assert findings["R@1", "toy"].score.value == pytest.approx(100 * np.mean(ranks == 1))
    assert findings["R@5", "toy"].score.value == pytest.approx(100 * np.mean(ranks <= 5))
    assert findings["MRR", "toy"].score.value == pytest.approx(100 * np.mean(1 / ranks))
    # The pairs by their shared words of three: the third with the fewest, ties in row order.
    shared = [len(set(pair.source.text.split()) & set(pair.target.text.split())) for pair in pairs]
    least = np.argsort(shared, kind="stable")[: -(-len(pairs) // 3)]
    assert findings["MRR", "toy, least overlap"].score.value == pytest.approx(100 * np.mean(1 / ranks[least]))


def test_texts_that_differ_in_punctuation_are_of_one_cluster() -> None:
    texts = [("Who is he?", "his name"), ("who is he", "his surname"), ("C++ or C?", "which of both")]
    texts += [("C", "the language"), ("C++", "its successor"), ("c ++ .", "what came next")]
    found = clustered([Pair(Sentence(left), Sentence(right)) for left, right in texts])
    assert [pair.cluster for pair in found] == [0, 0, 1, 2, 3, 3]
    assert [pair.source.text for pair in found] == [left for left, _ in texts]


def test_of_equals_the_wrong_ones_stand_first() -> None:
    one = retrieval_set("flat", random_pairs())
    space = embedded(lambda texts: np.ones((len(texts), 2), np.float32), one.texts(), name="flat", signature="")
    assert set(one.ranks(space).tolist()) == {1 + len(TEXTS) - 3}


def test_what_can_be_asked_for() -> None:
    same, other = Pair(Sentence("a"), Sentence("a")), Pair(Sentence("a"), Sentence("b"))
    with pytest.raises(
        InputError, match=r"^toy: 1 pair of paraphrases, all of one cluster; expected two clusters or more"
    ):
        retrieval_set("toy", [same, other, Pair(Sentence("c"), Sentence("d"), label=0)])
    with pytest.raises(ValueError, match="a pair without a cluster"):
        RetrievalSet("toy", [other]).texts()
