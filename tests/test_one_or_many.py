"""One text, and what it gives, as a list of it has it; models by what they can do; what is answered, as JSON."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest
import torch

import paraform
from paraform.capabilities import JudgesMeaning, Paraphraser, TextEncoder, Verdicts
from paraform.checkpoint import abilities
from paraform.records import Candidate, InputError, Rewording

TEXTS = ["Can I use my card abroad?", "Where is the bank?"]
LIKE = "what is the best way to lose weight ?"


def test_reword() -> None:
    how: dict[str, Any] = {"model": "rules", "device": "cpu"}
    assert [paraform.reword(text, **how) for text in TEXTS] == paraform.reword(TEXTS, **how)


@pytest.mark.parametrize("name", ["minilm", "minilm-par"])
def test_encode(name: str) -> None:
    model = paraform.load_encoder(name, device="cpu")
    many = model.encode(TEXTS)
    for text, row in zip(TEXTS, many, strict=True):
        np.testing.assert_allclose(model.encode(text), row, atol=1e-6)
    np.testing.assert_array_equal(model.encode(tuple(TEXTS)), model.encode(np.array(TEXTS)))
    assert model.encode(TEXTS[0], layer=1, pooling="cls").shape == many[0].shape


def test_same() -> None:
    how: dict[str, Any] = {"model": paraform.load_judge("minilm-judge", device="cpu")}
    (one,) = paraform.same([(TEXTS[0], TEXTS[1])], **how)
    alone = paraform.same(*TEXTS, **how)
    assert isinstance(alone, float) and alone == pytest.approx(one, abs=1e-6)
    with pytest.raises(InputError, match="pairs of type str; expected a list of pairs"):
        paraform.same(TEXTS[0], **how)  # type: ignore[call-overload]


def test_paraphrase() -> None:
    model = paraform.load("compact", device="cpu")
    assert model.paraphrase(TEXTS[0], like=LIKE) == model.paraphrase(TEXTS[:1], like=[LIKE])[0]


def test_many_are_asked_of_duplicates() -> None:
    with pytest.raises(InputError, match="a string where a list of texts is expected"):
        paraform.duplicates("a text")  # type: ignore[arg-type]


def test_models_by_what_they_can_do() -> None:
    assert isinstance(paraform.load_paraphraser(device="cpu"), Paraphraser)
    assert isinstance(paraform.load_paraphraser("compact", device="cpu"), Paraphraser)
    assert isinstance(paraform.load_judge(device="cpu"), JudgesMeaning)
    for name in ("minilm", "minilm-disentangled", "minilm-par"):
        assert isinstance(paraform.load_encoder(name, device="cpu"), TextEncoder)


@pytest.mark.parametrize(
    ("load", "name", "said"),
    [
        (paraform.load_paraphraser, "minilm", "minilm: an encoder; expected a model that paraphrases"),
        (paraform.load_encoder, "compact", "compact: an exemplar model; expected an encoder"),
        (paraform.load_encoder, "latent-compact", "latent-compact: a latent-variable model; expected an encoder"),
        (paraform.load_judge, "minilm", "minilm: an encoder; expected a judge of meaning"),
    ],
)
def test_models_that_cannot(load: Any, name: str, said: str) -> None:
    with pytest.raises(InputError) as caught:
        load(name, device="cpu")
    assert str(caught.value) == said


def test_the_number_of_threads_is_that_of_the_call(monkeypatch: pytest.MonkeyPatch) -> None:
    before, inside = torch.get_num_threads(), list[int]()

    class Judge:
        kind = "a judge"

        def judge(self, pairs: Any, **_: Any) -> Any:
            inside.append(torch.get_num_threads())
            return Verdicts(*np.ones((3, len(pairs)), np.float32))

    def loaded(name: Any, **how: Any) -> str:
        inside.append(how["threads"])
        return "a model"

    monkeypatch.setattr(abilities, "load", loaded)
    assert abilities.load_able("any", str, "a string", "cpu", 5) == "a model"
    paraform.same(*TEXTS, model=Judge(), threads=3)
    paraform.duplicates(TEXTS, "minilm", verify=Judge(), threshold=0.01, threads=4)
    assert inside == [5, 3, 4] and torch.get_num_threads() == before
    with pytest.raises(InputError, match="threads 0; expected 1"):
        paraform.reword(TEXTS, threads=0)


def test_what_is_answered_as_json() -> None:
    one = Candidate("b", "", {"kept": np.bool_(True)}, np.float32(0.25), {"content": np.float32(0.5)}, wrapped=True)  # type: ignore[dict-item, arg-type]
    assert json.loads(json.dumps(Rewording("a", (one,)).to_dict())) == {
        "source": "a",
        "candidates": [
            {
                "paraphrase": "b",
                "exemplar": None,
                "change": "wrapped",
                "content": 0.5,
                "score": 0.25,
                "checks": {"kept": True},
                "figures": {"content": 0.5},
            }
        ],
        "reason": "",
    }
    assert Rewording("a", (), "junk").to_dict() == {"source": "a", "candidates": [], "reason": "junk"}
