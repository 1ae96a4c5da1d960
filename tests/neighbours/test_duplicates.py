"""Clusters of duplicates against scipy's; what is encoded, and by which threshold."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np
import pytest
import torch
from numpy.typing import NDArray
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

import paraform
from paraform.capabilities import Verdicts
from paraform.encoders import Encoder
from paraform.neighbours.duplicates import THRESHOLDS
from paraform.records import InputError
from paraform.weights import pretrained_folder


class Angles:
    """A text is an angle in degrees; it remembers what it was asked."""

    kind: ClassVar[str] = "a protractor"
    vector_names: ClassVar[tuple[str, ...]] = ("angle",)
    device = torch.device("cpu")

    def __init__(self) -> None:
        self.asked: list[str] = []

    def embed(self, texts: Sequence[str], name: str = "", **how: Any) -> NDArray[np.float32]:
        self.asked += texts
        angles = np.radians([float(text) for text in texts])
        return np.stack([np.cos(angles), np.sin(angles)], 1).astype(np.float32)


COS_2 = float(np.cos(np.radians(2.01)))


def test_pairs_clusters_and_copies_each_encoded_once() -> None:
    model = Angles()
    texts = ["10", "50", "11.5", "10", "13", "90", "50", "170"]
    found = paraform.duplicates(texts, model, threshold=COS_2)
    assert model.asked == ["10", "50", "11.5", "13", "90", "170"] and found.different == 6
    assert found.pairs.tolist() == [[0, 2], [2, 4]]  # both 1.5 degrees; 10 and 13 are joined by 11.5 alone
    assert found.cosines == pytest.approx([np.cos(np.radians(1.5))] * 2, abs=1e-6)
    assert found.clusters == [[0, 2, 3, 4], [1, 6]]
    assert (found.threshold, found.search) == (COS_2, "exact")


def test_clusters_are_connected_components() -> None:
    angles = np.random.default_rng(0).uniform(0, 360, 150)
    texts = [str(angle) for angle in angles]
    found = paraform.duplicates(texts, Angles(), threshold=COS_2)
    rows, columns = found.pairs.T
    _, labels = connected_components(coo_array((np.ones(len(rows)), (rows, columns)), shape=(150, 150)), directed=False)
    expected = [np.flatnonzero(labels == label).tolist() for label in np.unique(labels)]
    assert found.clusters == sorted(cluster for cluster in expected if len(cluster) > 1)


def test_parts_make_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    texts = [str(angle / 4) for angle in range(40)]
    whole = paraform.duplicates(texts, Angles(), threshold=COS_2)
    monkeypatch.setattr("paraform.neighbours.duplicates.CHUNK", 7)
    assert np.array_equal(paraform.duplicates(texts, Angles(), threshold=COS_2).pairs, whole.pairs)


def test_no_text_and_one() -> None:
    for texts in ([], ["10"]):
        found = paraform.duplicates(texts, Angles(), threshold=0.5)
        assert (found.pairs.shape, found.clusters, found.different) == ((0, 2), [], len(texts))


def test_an_embedded_encoder_has_a_threshold(minilm: Encoder, caplog: pytest.LogCaptureFixture) -> None:
    texts = ["How do I lose weight?", "how can i lose weight", "Who wrote Hamlet?"]
    found = paraform.duplicates(texts, minilm)
    assert found.threshold == THRESHOLDS["minilm"] and found.clusters == [[0, 1]]
    assert paraform.duplicates(texts).pairs.tolist() == found.pairs.tolist() == [[0, 1]]
    assert not caplog.messages
    paraform.duplicates(["word " * 1000, "word " * 1000], minilm)
    assert caplog.messages == [
        "1 of 1 texts are longer than the 256 tokens that minilm reads; what is behind is left out"
    ]


def test_every_threshold_is_of_an_embedded_encoder() -> None:
    for name, threshold in THRESHOLDS.items():
        assert name == "minilm" or pretrained_folder(name) is not None
        assert 0.5 < threshold < 1 and round(threshold, 2) == threshold


def test_what_has_no_threshold(minilm: Encoder) -> None:
    with pytest.raises(InputError, match=r"no threshold for a protractor; expected one, such as 0\.8"):
        paraform.duplicates(["1"], Angles())
    with pytest.raises(InputError, match="no threshold for minilm@layer=3"):
        paraform.duplicates(["1"], "minilm@layer=3")
    with pytest.raises(InputError, match="no threshold for minilm; expected one"):
        paraform.duplicates(["1"], paraform.load("minilm@layer=3"))  # called minilm, and no longer the one measured


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (("a text", Angles()), "a string where a list of texts is expected"),
        (([None], Angles()), "text 1 is of type NoneType"),
        ((["1"], object()), "object; expected a model that embeds"),
        ((["1"], Angles(), 2.0), "threshold 2.0; expected a cosine above 0, at most 1"),
    ],
)
def test_what_is_refused(given: tuple[Any, ...], said: str) -> None:
    texts, model, *threshold = given
    with pytest.raises(InputError, match=said):
        paraform.duplicates(texts, model, threshold=threshold[0] if threshold else 0.5)


def test_vectors_that_are_none() -> None:
    class Broken(Angles):
        def embed(self, texts: Sequence[str], name: str = "", **how: Any) -> NDArray[np.float32]:
            return np.full((len(texts), 2), np.nan, np.float32)

    with pytest.raises(InputError, match="embed gave NaN or infinity"):
        paraform.duplicates(["1"], Broken(), threshold=0.5)


def test_what_cannot_be_read_is_compared_by_its_letters(minilm: Encoder) -> None:
    texts = ["😀", "Who wrote Hamlet?", "😎!", "who wrote hamlet", "สวัสดีครับ", "😀", "thanks 🙏", "Thanks  🙏"]
    found = paraform.duplicates(texts, minilm)
    assert found.pairs.tolist() == [[6, 7], [1, 3]] and found.clusters == [[0, 5], [1, 3], [6, 7]]
    assert found.cosines[0] == 1 > found.cosines[1] and found.unread == [0, 2, 4, 5, 6, 7] and found.different == 7
    nothing = paraform.duplicates(["😀", "😎"], minilm)
    assert (nothing.pairs.shape, nothing.clusters, nothing.unread) == ((0, 2), [], [0, 1])


class Even:
    """A judge that takes two angles for the same if their sum is even; it remembers what it was asked."""

    kind: ClassVar[str] = "a judge"

    def __init__(self) -> None:
        self.asked: list[tuple[str, str]] = []
        self.cosines: NDArray[np.float32] | None = None
        self.how: dict[str, Any] = {}

    def judge(
        self, pairs: Sequence[tuple[str, str]], *, cosines: NDArray[np.float32] | None = None, **how: Any
    ) -> Verdicts:
        self.asked += pairs
        self.cosines, self.how = cosines, how
        same = np.array([0.9 if sum(map(int, pair)) % 2 == 0 else 0.5 for pair in pairs], np.float32)
        return Verdicts(same, same, same)


def test_a_judge_reads_every_pair_that_is_left() -> None:
    judge = Even()
    found = paraform.duplicates(["10", "11", "12", "50", "90", "91"], Angles(), threshold=COS_2, verify=judge)
    assert sorted(judge.asked) == [("10", "11"), ("10", "12"), ("11", "12"), ("90", "91")]
    assert found.pairs.tolist() == [[0, 2]] and found.clusters == [[0, 2]] and found.apart == {"meaning": 3}
    assert found.same is not None and found.same.tolist() == [np.float32(0.9)]
    assert judge.how == {"batch_size": 64, "progress": False}
    paraform.duplicates(["10", "12"], Angles(), threshold=COS_2, verify=judge, batch_size=8)
    assert judge.how["batch_size"] == 8
    judge.asked.clear()
    found = paraform.duplicates(["10", "11", "12"], Angles(), threshold=COS_2, verify=judge, keep_apart=["numbers"])
    assert judge.asked == [] and found.apart == {"numbers": 3}
    assert paraform.duplicates(["10", "11"], Angles(), threshold=COS_2).same is None
    with pytest.raises(InputError, match=r"verify_threshold: 1\.5; expected"):
        paraform.duplicates(["10"], Angles(), threshold=COS_2, verify=judge, verify_threshold=1.5)


@pytest.mark.parametrize(("least", "pairs"), [(0.95, 0), (0.89, 1), (0.5, 4)])
def test_pairs_stay_from_the_threshold_on(least: float, pairs: int) -> None:
    given: dict[str, Any] = {"threshold": COS_2, "verify": Even(), "verify_threshold": least}
    found = paraform.duplicates(["10", "11", "12", "50", "90", "91"], Angles(), **given)
    assert len(found.pairs) == pairs and found.same is not None and len(found.same) == pairs


def test_a_judge_is_told_minilms_cosines_alone(minilm: Encoder) -> None:
    judge = Even()
    found = paraform.duplicates([*"12121", "3 ", " 3"], minilm, threshold=0.3, verify=judge)
    assert judge.cosines is not None and len(judge.cosines) == len(judge.asked) >= len(found.pairs)
    paraform.duplicates(["10", "12"], Angles(), threshold=COS_2, verify=judge)
    assert judge.cosines is None
