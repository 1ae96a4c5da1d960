"""Search by meaning: against sentence-transformers on real sentences, and what comes back from a folder."""

from __future__ import annotations

import logging
import shutil
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pytest
import torch
from numpy.typing import NDArray
from sentence_transformers.util import semantic_search

import paraform
from paraform.encoders import Encoder
from paraform.neighbours.search_index import Hit, SearchIndex
from paraform.records import InputError

TEXTS = ["How can I lose weight quickly?", "Who wrote Hamlet?", "How do cats see in the dark?", "Who wrote Hamlet?"]


class Angles:
    """A text is an angle in degrees; it remembers what it was asked, and cannot read what is none."""

    kind: ClassVar[str] = "a protractor"
    vector_names: ClassVar[tuple[str, ...]] = ("angle", "double")
    device = torch.device("cpu")
    signature = "model:angles|turns:1"

    def __init__(self) -> None:
        self.asked: list[str] = []

    def embed(self, texts: Sequence[str], name: str = "", **how: Any) -> NDArray[np.float32]:
        self.asked += texts
        angles = np.radians([float(text) * (2 if name == "double" else 1) for text in texts])
        return 3 * np.stack([np.cos(angles), np.sin(angles)], 1).astype(np.float32)

    def unread(self, texts: Sequence[str]) -> NDArray[np.bool_]:
        return np.array([not text.strip().isdigit() for text in texts], np.bool_)


def rows(hits: list[Hit]) -> list[int]:
    return [hit.row for hit in hits]


def test_the_nearest_first_and_equal_texts_by_row() -> None:
    model = Angles()
    index = SearchIndex.build(["10", "50", "20", "10", "300"], model, fields=[{"n": n} for n in range(5)])
    assert model.asked == ["10", "50", "20", "300"] and len(index) == 5 and index.dimension == 2
    hits = index.search("12", 3)
    assert rows(hits) == [0, 3, 2] and [hit.text for hit in hits] == ["10", "10", "20"]
    assert [hit.fields for hit in hits] == [{"n": 0}, {"n": 3}, {"n": 2}]
    assert [hit.similarity for hit in hits] == pytest.approx(np.cos(np.radians([2, 2, 8])), abs=1e-6)
    assert hits[0].similarity == hits[1].similarity
    assert rows(index.search("12", least=0.99)) == [0, 3, 2]
    assert rows(index.search("12")) == [0, 3, 2, 1, 4]
    many = index.search(["12", "299", "12"], 1)
    assert [rows(hits) for hits in many] == [[0], [4], [0]] and index.search([]) == []
    assert index.search("200", least=0.999) == []


def test_what_cannot_be_read_is_found_by_its_letters_alone(caplog: pytest.LogCaptureFixture) -> None:
    model = Angles()
    index = SearchIndex.build(["Ja  ja", "10", "ja JA", "nein", "190"], model)
    assert index.unread_rows == [0, 2, 3] and model.asked == ["10", "190"]
    assert rows(index.search("10", 9)) == [1, 4]  # the other two have no vector, however many are wanted
    assert not caplog.messages
    assert index.unread(["ja ja", "10"]).tolist() == [True, False]
    hits, others, nothing, empty = index.search(["ja ja", "20", "doch", ""], 9)
    assert rows(hits) == [0, 2] and [hit.similarity for hit in hits] == [1, 1] and rows(others) == [1, 4]
    assert nothing == empty == []
    said = "3 of 4 questions have few words that a protractor knows; they are compared by letters alone"
    assert caplog.messages == [said]
    assert rows(index.search("JA JA", 1)) == [0]
    assert "10" not in [hit.text for hit in index.search("ja")]


@pytest.mark.parametrize("texts", [[], ["ja", "nein"]])
def test_an_index_without_vectors(texts: list[str], tmp_path: Path) -> None:
    index = SearchIndex.build(texts, Angles())
    index.save(tmp_path / "index")
    for one in (index, SearchIndex.load(tmp_path / "index", Angles())):
        assert len(one) == len(texts) and one.search("10") == [] and one.search(["10", "ja"])[1] == one.search("ja")
        assert rows(one.search("JA")) == ([0] if texts else [])


def sentences(data: Path) -> list[str]:
    lines = (data / "banking77" / "train.csv").read_text(encoding="utf-8").splitlines()[1:1200]
    return [line.rsplit(",", 1)[0].strip('"') for line in lines if line.count('"') % 2 == 0]


def test_is_sentence_transformers_search(data: Path, minilm: Encoder) -> None:
    texts = sentences(data)
    asked, texts = texts[::40], [text for number, text in enumerate(texts) if number % 40]
    found = SearchIndex.build(texts, minilm).search(asked, 20)
    vectors = torch.from_numpy(minilm.encode(texts))
    for hits, question in zip(found, asked, strict=True):
        (expected,) = semantic_search(torch.from_numpy(minilm.encode([question])), vectors, top_k=20)
        np.testing.assert_allclose([hit.similarity for hit in hits], [one["score"] for one in expected], atol=1e-5)
        assert [hit.text for hit in hits] == [texts[hit.row] for hit in hits]
        assert len({*rows(hits)} & {one["corpus_id"] for one in expected}) >= 19  # the last two may be as near


def test_what_was_saved_answers_as_before(minilm: Encoder, tmp_path: Path) -> None:
    texts = [*TEXTS, "Où est la gare ? 🙏", "สวัสดีครับ", "", "a\nb\u2028c"]
    index = SearchIndex.build(texts, "minilm", fields=[{"label": "é😀", "n": n, "x": None} for n in range(8)])
    assert index.save(tmp_path / "index") == tmp_path / "index"
    asked = ["who wrote hamlet", "สวัสดีครับ", "where is the station"]
    for one in (SearchIndex.load(tmp_path / "index", device="cpu"), SearchIndex.load(tmp_path / "index", minilm)):
        assert one.search(asked) == index.search(asked) and one.name == index.name == "minilm"
        assert rows(one.search(asked[1])) == [5] and rows(one.search(asked[0], 2)) == [1, 3]
        assert one.search(asked[0], 1)[0].fields == {"label": "é😀", "n": 1, "x": None}
    loaded = SearchIndex.load(tmp_path / "index", minilm)
    loaded.save(tmp_path / "index")  # over the files that it stands on
    SearchIndex.build(["x"], minilm).save(tmp_path / "other")
    shutil.move(tmp_path / "index", tmp_path / "moved")
    assert SearchIndex.load(tmp_path / "moved").search(asked) == index.search(asked)


def test_many_threads_may_ask(minilm: Encoder) -> None:
    texts = [f"question {number} about {thing}" for number in range(40) for thing in ("cats", "ships", "tea")]
    index = SearchIndex.build([*texts, "😀", "😎"], minilm)
    asked = [f"what about {thing} {number}" for number in range(10) for thing in ("tea", "cats")] + ["😎"]
    with ThreadPoolExecutor(8) as pool:
        found = list(pool.map(lambda question: index.search(question, 5), asked * 3))
    for hits, question in zip(found, asked * 3, strict=True):
        assert rows(hits) == rows(index.search(question, 5))


def test_a_model_is_known_by_its_weights_wherever_it_lies(tiny_run: Path, tmp_path: Path, minilm: Encoder) -> None:
    shutil.copytree(tiny_run / "best", tmp_path / "model")
    texts = ["how do i learn chess ?", "how can i teach music ?"]
    index = SearchIndex.build(texts, str(tmp_path / "model"), vectors="style")
    index.save(tmp_path / "index")
    expected = index.search(texts[0])
    assert SearchIndex.load(tmp_path / "index").search(texts[0]) == expected
    shutil.move(tmp_path / "model", tmp_path / "elsewhere")
    with pytest.raises(InputError, match="no such model"):
        SearchIndex.load(tmp_path / "index")
    for model in (str(tmp_path / "elsewhere"), paraform.load(tmp_path / "elsewhere")):
        assert SearchIndex.load(tmp_path / "index", model).search(texts[0]) == expected
    with pytest.raises(InputError, match=r"its vectors are of model:.*\|vectors:style\|.*expected the same model"):
        SearchIndex.load(tmp_path / "index", minilm)


def test_another_layer_is_another_model(tmp_path: Path) -> None:
    SearchIndex.build(TEXTS, "minilm@layer=3").save(tmp_path / "index")
    assert SearchIndex.load(tmp_path / "index").name == "minilm@layer=3"
    SearchIndex.build(TEXTS, paraform.load("minilm@layer=3")).save(tmp_path / "index")  # it calls itself minilm
    with pytest.raises(InputError, match=r"layer:3.*; minilm is .*layer:6.*an index that is built again"):
        SearchIndex.load(tmp_path / "index")
    SearchIndex.load(tmp_path / "index", "minilm@layer=3")


def test_a_relative_name_is_found_from_elsewhere(
    tiny_run: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tiny_run.parent)
    SearchIndex.build(["a b"], tiny_run.name).save(tmp_path / "index")
    monkeypatch.chdir(tmp_path)
    assert SearchIndex.load("index").name == str(tiny_run)


def test_a_model_of_ones_own(tmp_path: Path) -> None:
    index = SearchIndex.build(["10", "20"], Angles(), vectors="double")
    assert rows(index.search("195", 1)) == [0]  # 390 is 30 degrees
    index.save(tmp_path / "index")
    with pytest.raises(InputError, match=r"its model was given without a name; expected load\(folder, encoder=model\)"):
        SearchIndex.load(tmp_path / "index")
    assert rows(SearchIndex.load(tmp_path / "index", Angles()).search("195", 1)) == [0]

    class Bare(Angles):
        signature = None  # type: ignore[assignment]

    bare = SearchIndex.build(["10", "20"], Bare())
    assert rows(bare.search("19", 1)) == [1]
    with pytest.raises(InputError, match="a protractor: no weights to know it by"):
        bare.save(tmp_path / "bare")
    with pytest.raises(InputError, match="expected the same model"):
        SearchIndex.load(tmp_path / "index", Bare())


def test_vectors_of_another_width(tmp_path: Path) -> None:
    class Wide(Angles):
        def embed(self, texts: Sequence[str], name: str = "", **how: Any) -> NDArray[np.float32]:
            return np.ones((len(texts), 3), np.float32)

    SearchIndex.build(["10"], Angles()).save(tmp_path / "index")
    with pytest.raises(InputError, match="a damaged index: vectors of 2 numbers; its model's have 3"):
        SearchIndex.load(tmp_path / "index", Wide()).search("1")


def test_what_is_refused(minilm: Encoder, caplog: pytest.LogCaptureFixture) -> None:
    index = SearchIndex.build(["10", "20"], Angles())
    calls: list[tuple[Any, str]] = [
        (lambda: SearchIndex.build(["1"], object()), "object; expected a model that embeds"),  # type: ignore[arg-type]
        (lambda: SearchIndex.build(["1"], "latent"), "latent: no such model"),
        (lambda: SearchIndex.build(["1"], minilm, vectors="style"), "vectors 'style': an encoder; expected text"),
        (lambda: SearchIndex.build(["1"], minilm, fields=[]), "0 fields for 1 texts"),
        (lambda: index.search("1", least=1.5), "least 1.5; expected a cosine, -1 to 1"),
        (lambda: index.search("1", least=float("nan")), "least nan; expected a cosine"),
        (lambda: index.search("1", least="x"), "least is of type str"),  # type: ignore[call-overload]
    ]
    for call, said in calls:
        with pytest.raises(InputError, match=said):
            call()
    with caplog.at_level(logging.WARNING):
        index = SearchIndex.build(["word " * 600], minilm)
        index.search("word " * 600)
    assert [message.split(";")[0] for message in caplog.messages] == [
        "1 of 1 texts are longer than the 256 tokens that minilm reads"
    ] * 2
