"""Columns and rows of rewordings, a batch at a time, against what `paraform.reword` says of the same texts."""

from __future__ import annotations

import pickle

import pytest

import paraform
from paraform.records import Candidate, InputError, Rewording
from paraform.rewording.column import with_best, with_rows

TEXTS = ["Wo ist meine Karte?", "Can I use my card abroad?", "I haven't received the PIN yet.", ""]
BATCH = {"text": TEXTS, "label": [0, 1, 2, 3]}


@pytest.fixture(scope="module")
def reworder() -> paraform.Reworder:
    return paraform.reworder("rules", device="cpu", keep=["PIN"])


def test_the_best_or_the_reason_stands_beside_each_text(reworder: paraform.Reworder) -> None:
    expected = paraform.reword(TEXTS, model="rules", device="cpu", keep=["PIN"])
    out = reworder.column("text")(BATCH)
    assert out == {
        "text_reworded": [one.candidates[0].text if one.candidates else "" for one in expected],
        "text_reason": [one.reason for one in expected],
    }
    assert all(bool(said) != bool(why) for said, why in zip(*out.values(), strict=True))
    forced = reworder.column("text", force=True)(BATCH)["text_reason"]
    assert "another language, or no sentence" in out["text_reason"] and forced != out["text_reason"]


def test_rows_stand_behind_the_one_that_they_are_made_of(reworder: paraform.Reworder) -> None:
    expected = paraform.reword(TEXTS, num=3, model="rules", device="cpu", keep=["PIN"])
    rows = []
    for label, one in enumerate(expected):
        rows += [(one.source, label)] + [(made.text, label) for made in one.candidates if not made.wrapped]
    assert len(rows) > len(TEXTS) + 2
    out = reworder.rows("text", num=3)(BATCH)
    assert list(zip(out["text"], out["label"], strict=True)) == rows and list(out) == list(BATCH)


def test_what_only_puts_words_around_makes_no_row() -> None:
    made = [Candidate(text, "", {}, 0.0, wrapped=text.startswith("Can you")) for text in ("Can you say?", "Say it!")]
    found = [Rewording("Say.", tuple(made)), Rewording("Go.", (), "no")]
    assert with_rows(lambda _: found, "a", {"a": ["Say.", "Go."], "b": ["x", "y"]}) == {
        "a": ["Say.", "Say it!", "Go."],
        "b": ["x", "x", "y"],
    }
    assert with_best(lambda _: found, "a", {"a": ["Say.", "Go."]})["a_reworded"] == ["Can you say?", ""]


def test_a_column_that_is_not_there_or_holds_no_texts_is_named(reworder: paraform.Reworder) -> None:
    with pytest.raises(InputError, match="no column 'words'; expected one of 'text', 'label'"):
        reworder.column("words")(BATCH)
    with pytest.raises(InputError, match="text 1 is of type int"):
        reworder.rows("label")(BATCH)


def test_a_reworder_arrives_elsewhere_as_its_settings(reworder: paraform.Reworder) -> None:
    sent = pickle.dumps(reworder)
    assert len(sent) < 1000
    again = pickle.loads(sent)
    assert again.reword(TEXTS) == reworder.reword(TEXTS)
    settings = [repr(one.__reduce__()) for one in (again, reworder, paraform.reworder("rules", device="cpu"))]
    assert settings[0] == settings[1] != settings[2]
    changed = paraform.Reworder.default("cpu", change="little", keep=["PIN"])
    assert pickle.loads(pickle.dumps(changed)).reword(TEXTS) == changed.reword(TEXTS)


def test_one_of_tools_of_its_own_is_sent_as_it_is() -> None:
    from paraform.rewording.judging import Tools

    own = paraform.Reworder(Tools(tag=_tags, embed=_no_vectors))
    again = pickle.loads(pickle.dumps(own))
    assert again.tools == own.tools and again.sent is None
    assert again.judge(["Can I go?"]) == own.judge(["Can I go?"])


def _tags(sentences):  # type: ignore[no-untyped-def]
    return [["NN" for _ in words] for words in sentences]


def _no_vectors(texts):  # type: ignore[no-untyped-def]
    import numpy as np

    return np.ones((len(texts), 1), np.float32)
