"""Which pairs language models learn from, and in what manner, by hand; and of small files of the real formats."""

from __future__ import annotations

import random
from collections import Counter
from pathlib import Path

import pytest

from paraform.records import Origin, Pair, Sentence
from paraform_papers.shipped import lm_data
from paraform_papers.shipped.lm_data import (
    KNOWN,
    NAMES,
    NUMBERS,
    asks,
    changes,
    directed,
    in_manner,
    known_words,
    made,
    slotted,
    tells,
)


def pair(one: str, other: str, corpus: str = "tatoeba") -> Pair:
    return Pair(Sentence(one), Sentence(other), label=1, origin=Origin(f"data/{corpus}/a.tsv", 1))


@pytest.mark.parametrize(
    ("one", "other", "said", "changed"),
    [
        ("She left me yesterday.", "Yesterday she abandoned me.", True, True),
        ("He looked her in the eye.", "He looked her in the eyes.", True, False),
        ("Is it?", "It is.", False, False),  # no content
        ("The cat sat on the mat.", "On the mat sat the cat.", True, True),  # in another order
        ("It rains.", "It rains on the roofs of all the houses of the old town.", False, True),
    ],
)
def test_pairs_that_say_something_else(one: str, other: str, said: bool, changed: bool) -> None:
    assert (tells(pair(one, other)), changes(pair(one, other))) == (said, changed)


def test_slots_stand_where_both_had_the_same() -> None:
    found = {slotted("I met Tom in Paris.", "Paris is where I met Tom.", random.Random(seed)) for seed in range(40)}
    assert {(one, other) for one, other in found if "Tom" in one} == set()  # Paris opens the other side
    slots = [
        (one[len("I met ") : -len(" in Paris.")], other[len("Paris is where I met ") : -1]) for one, other in found
    ]
    assert all(one == other and one in NAMES for one, other in slots) and len(slots) > 5
    number = slotted("It costs 50 dollars.", "The price is 50 dollars.", random.Random(1))
    assert number in {(f"It costs {slot} dollars.", f"The price is {slot} dollars.") for slot in NUMBERS}
    assert slotted("It is here.", "Here it is.", random.Random(1)) == ("It is here.", "Here it is.")


def test_a_share_is_written_small() -> None:
    one, other = "Can I pay here?", "May I pay at this place?"
    drawn = random.Random(0)
    found = Counter(in_manner(pair(one, other), drawn).source.text for _ in range(2000))
    assert {*found} == {one, one.lower(), one.lower().rstrip("?")}
    assert found[one] / 2000 == pytest.approx(0.8, abs=0.03)


def test_a_machines_translation_is_no_target() -> None:
    both = [*directed([pair("a", "b"), pair("c", "d", "paranmt")])]
    assert [(one.source.text, one.target.text) for one in both] == [("b", "a"), ("a", "b"), ("d", "c")]


@pytest.mark.parametrize(
    ("text", "question"),
    [("Is it?", True), ("why was i charged", True), ("Can you go", True), ("Explain it.", False), ("It is.", False)],
)
def test_what_is_a_question(text: str, question: bool) -> None:
    assert asks(text) == question


def test_questions_are_half_at_most(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    texts = ["The {} fell down.\tDown came the {}.", "Where did the {} go?\tTo what place has the {} gone?"]
    things = ("cat", "dog", "cow", "pig", "hen", "fox", "owl", "bee")
    rows = [text.format(thing, thing) for thing in things for text in (texts if thing < "d" else texts[1:])]
    (tmp_path / "tatoeba").mkdir()
    (tmp_path / "tatoeba" / "pairs.tsv").write_text("".join(f"{row}\n" for row in rows))
    monkeypatch.setitem(lm_data.CORPORA, "free", ("tatoeba",))
    others = [Sentence(row.replace("\t", " ")) for row in rows] * 3  # by which these words are known
    monkeypatch.setattr(lm_data, "sentences", lambda data, corpus, seed: others)
    monkeypatch.setattr(lm_data, "measured_by", lambda data: ["Down came the bee."])
    train, dev, counts = made(tmp_path, "free", seed=0)
    assert counts.rows["tatoeba"]["read"] == len(rows)
    assert counts.rows["tatoeba"]["in a test, or its cluster"] == 1
    asked = sum(one.target.text.rstrip("?").startswith(("Where", "To what", "where", "to what")) for one in train)
    assert 0 < asked <= len(train) / 2 and len(dev) <= 1
    assert train == made(tmp_path, "free", seed=0)[0]


def test_words_are_known_that_stand_often_enough() -> None:
    assert known_words(["The cat."] * (KNOWN - 1) + ["the dog"]) == {"the"}
