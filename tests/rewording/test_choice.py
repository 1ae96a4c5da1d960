"""Which of the candidates that pass are given, how much of a text changes, and what stays as it is written."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import paraform
from paraform.records import Candidate, InputError
from paraform.rewording.checks import CHECKS, Check, Compared
from paraform.rewording.drafts import Draft
from paraform.rewording.judging import Tools, _holds
from paraform.rewording.reworder import Reworder
from paraform.rewording.standards import Standards
from paraform.rewording.tagged import Tagged
from paraform.syntax.trees import Tree

SOURCE = "The old cat slept in the red house today."
LONG = "The old cat slept in the red house today and the big dog sat on a wall near it."
MOVIES = "The movies were great and the food was good."


def embed(texts: Sequence[str]) -> NDArray[np.float32]:
    """The same vector of all."""
    return np.tile(np.array([1, 0], np.float32), (len(texts), 1))


TOOLS = Tools(tag=lambda rows: [["NN"] * len(words) for words in rows], embed=embed)
LEVEL = replace(Standards(), weights={})  # all score 0, and stay in their order


def reworder(says: Mapping[str, bool], standards: Standards = LEVEL, **how: Any) -> Reworder:
    """Rules that say these texts, each wrapped or not."""

    def rules(source: Tagged, cased: Mapping[str, str], tree: Tree | None) -> list[Draft]:
        return [Draft(text, text, frozenset(), framed=True, wrapped=wrapped) for text, wrapped in says.items()]

    return Reworder(TOOLS, rules=rules, standards=standards, **how)


def texts_of(candidates: Sequence[Candidate]) -> list[str]:
    return [one.text for one in candidates]


def given(says: Mapping[str, bool], num: int, **how: Any) -> list[str]:
    (found,) = reworder(says, **how).reword([SOURCE], num=num)
    return texts_of(found.candidates)


def named(name: str) -> Check:
    (check,) = (one for one in CHECKS if one.name == name)
    return check


SAYINGS = {
    "Today the cat slept.": False,
    "Today a CAT, it slept!": False,  # the same content words in the same order
    "The cat slept today.": False,  # in another
    "Can you tell me whether the cat slept?": True,
    "Today the cat slept well.": False,
    "Do you know whether the dog slept?": True,  # the second that puts words around
    "The cat, which was in it, has slept today.": False,
}


@pytest.mark.parametrize("num", [1, 2, 3, 4, 9])
def test_no_two_have_the_same_content_words_in_the_same_order(num: int) -> None:
    """The first of each, and of those that put words around; one that is not given takes no place."""
    texts = list(SAYINGS)
    assert given(SAYINGS, num, checks=()) == [texts[0], texts[2], texts[3], texts[4]][:num]
    (every,) = reworder(SAYINGS, checks=()).judge([SOURCE])
    assert texts_of(every) == texts


def test_what_fails_takes_no_place() -> None:
    first = next(iter(SAYINGS))
    known = Check("known", "is known", "words", lambda compared: compared.output.text != first)
    assert given(SAYINGS, 2, checks=(known,)) == list(SAYINGS)[1:3]


def test_each_sentence_of_a_text_has_its_own() -> None:
    texts = ["Today the cat slept.", "Today a cat slept.", "The cat slept today."]
    (found,) = reworder(dict.fromkeys(texts, False), checks=()).reword([f"{SOURCE} {SOURCE}"], num=9)
    assert texts_of(found.candidates) == [f"{text} {text}" for text in (texts[0], texts[2])]


def test_where_one_that_says_the_same_is_all_a_model_is_asked() -> None:
    """Two candidates with the same content words are one where two are wanted, and what puts words around is none."""

    class Model:
        kind, device = "a fake", "cpu"

        def __init__(self) -> None:
            self.asked = 0

        def exemplars(self, sources: Sequence[str], like: object = None, **how: Any) -> list[list[str]]:
            return [["a form"] for _ in sources]

        def decode(self, sources: Sequence[str], exemplars: Sequence[str], **how: Any) -> list[str]:
            self.asked += 1
            return ["Slept today the cat."] * len(sources)

        def decoding_settings(self, **how: Any) -> dict[str, Any]:
            return {}

    def asked(num: int, *says: str) -> int:
        model = Model()
        reworder({text: SAYINGS[text] for text in says}, checks=(), paraphraser=model).reword([SOURCE], num=num)
        return model.asked

    texts = list(SAYINGS)
    assert asked(2, *texts[:2]) == asked(1, texts[3]) == asked(2, texts[0], texts[3]) == 1
    assert asked(2, texts[0], texts[2]) == asked(1, *texts[:2]) == 0


EDITS = {  # of SOURCE, by how many words are others, small words aside
    "The ancient cat slept in the red house today.": 1,
    "The ancient cat slept in the crimson house today.": 2,
    "The ancient cat slept in the crimson home today.": 3,
    "The ancient feline slept in the crimson home today.": 4,
    "The ancient feline dozed in the crimson home today.": 5,
}


@pytest.mark.parametrize(("change", "wanted"), [("little", [1, 2, 3, 4, 5]), (None, [5, 4, 3, 2]), ("much", [5, 4])])
def test_how_much_changes(change: Any, wanted: list[int]) -> None:
    """Of "much" four words at least; the more the better, but where little is wanted the fewer."""
    usual = Standards.for_change(change)
    standards = replace(usual, weights={"changed": usual.weights["changed"]})
    found = given(dict.fromkeys(EDITS, False), 9, standards=standards, checks=(named("changed"),))
    assert [EDITS[text] for text in found] == wanted


def test_little_is_a_word_that_says_something() -> None:
    small = [
        "The old cat slept on the red house today.",
        "An old cat, it slept in the red house today.",
        SOURCE.upper(),
    ]
    for text in small:
        assert given({text: False}, 1, standards=Standards.for_change("little"), checks=(named("changed"),)) == []
    assert given({small[1]: False}, 1, checks=(named("changed"),)) == [small[1]]  # two words, as is usual


def test_much_is_a_third_of_a_long_sentence() -> None:
    """Of 20 words and marks 4 will not do, nor 6, but 7."""
    words = LONG.split()
    assert len(Tagged.read(LONG).words) == 20
    standards = Standards.for_change("much")
    for count in (4, 6, 7):
        text = " ".join(f"{word[0]}new" if 0 < at <= count else word for at, word in enumerate(words))
        (found,) = reworder({text: False}, standards, checks=(named("changed"),)).reword([LONG])
        assert texts_of(found.candidates) == ([text] if count == 7 else [])


def test_how_much_changes_of_real_sentences() -> None:
    """A synonym alone is enough, but never much; what is much has four words that are others."""
    (little,), (usual,), (much,) = (
        paraform.reword([MOVIES], num=9, change=change, device="cpu") for change in ("little", None, "much")
    )
    assert texts_of(little.candidates) == ["The films were great and the food was good."]
    assert texts_of(usual.candidates) == texts_of(little.candidates)
    assert much.reason == "its only rewording is hardly another"
    question = "Can I use my card abroad?"
    (usual,), (much,) = (paraform.reword([question], num=9, change=change, device="cpu") for change in (None, "much"))
    edits = [one.figures["edits"] for one in usual.candidates]
    assert min(edits) == 3 and min(one.figures["edits"] for one in much.candidates) >= 4
    assert "Am I able to use my card abroad?" not in texts_of(much.candidates)


@pytest.mark.parametrize("change", ["tiny", "Much", ""])
def test_a_change_that_is_none_is_refused(change: Any) -> None:
    with pytest.raises(InputError, match="little"):
        paraform.reword([MOVIES], change=change, device="cpu")


@pytest.mark.parametrize(
    ("source", "output", "terms", "kept"),
    [
        ("The PIN is lost.", "Lost is the PIN.", ["PIN"], True),
        ("The PIN is lost.", "Lost is the pin.", ["PIN"], False),  # as it was, whatever
        ("The PIN is lost.", "Lost is the pin.", ["pin"], False),  # the case of the term
        ("The PIN is lost.", "Lost is the PIN.", ["pin"], True),
        ("The PIN is lost.", "Lost is the code.", ["PIN"], False),
        ("The PIN is lost.", "Lost is the code.", ["code"], False),  # once too often
        ("The PIN is lost.", "Lost is the code.", [], True),
        ("The PIN of my PIN is lost.", "Lost is the PIN of mine.", ["PIN"], False),  # as often
        ("The PIN is lost.", "The PIN is the lost PIN.", ["PIN"], False),
        ("My card is lost.", "My plastic is lost.", ["car"], True),  # inside a longer word
        ("My postcard is lost.", "My letter is lost.", ["card"], True),
        ("My car is lost.", "My card is lost.", ["car"], False),
        ("My car-card is lost.", "My bus-card is lost.", ["car"], False),  # a hyphen ends a word
        ("I know C++ well.", "C++ is what I know well.", ["C++"], True),
        ("I know C++ well.", "C is what I know well.", ["C++"], False),
        ("I use a.b here.", "I use aXb here.", ["a.b"], False),  # a point is a point
        ("I use aXb here.", "I use aYb here.", ["a.b"], True),
        ("I pay by credit card.", "By credit I pay the card.", ["credit card"], False),
        ("I pay by credit card.", "By credit card I pay.", ["credit card"], True),
        ("I pay by credit card.", "By credit card I pay.", ["credit card", "by"], True),  # but for the opening letter
        ("Ist Größe da?", "Ist GRÖßE da?", ["größe"], False),
    ],
)
def test_a_term_stays_as_it_is_written(source: str, output: str, terms: list[str], kept: bool) -> None:
    assert named("kept")(Compared(Tagged.read(source), Tagged.read(output), keep=terms)) is kept


def test_what_is_reworded_keeps_its_terms() -> None:
    for term, says in (("movies", []), ("food", ["The films were great and the food was good."])):
        (found,) = paraform.reword([MOVIES], change="little", keep=[term], device="cpu")
        assert texts_of(found.candidates) == says
        assert found.reason == ("" if says else "its only rewording lacks a term that was to be kept")
    texts = ["The cat slept today.", "The feline slept today."]
    assert given(dict.fromkeys(texts, False), 9, keep=("cat",), checks=(named("kept"),)) == texts[:1]
    assert given(dict.fromkeys(texts, False), 9, keep={"CAT": 1}, checks=(named("kept"),)) == texts[:1]


@pytest.mark.parametrize("keep", ["card", "", [""], ["card", " \t"], ["card", None], [5], b"card"])
def test_terms_that_are_none_are_refused(keep: Any) -> None:
    with pytest.raises(InputError, match=r"^keep .*; expected a list of terms, none of them empty$"):
        paraform.reword([MOVIES], keep=keep, device="cpu")
    with pytest.raises(InputError, match=r"^keep .*; expected a list of terms, none of them empty$"):
        Reworder(TOOLS, keep=keep)


@pytest.mark.parametrize(
    ("source", "output", "wrapped"),
    [
        ("Turn off the lights.", "Could you please turn off the lights?", True),
        ("Turn off the lights.", "Turn the lights off.", False),
        ("The PIN is lost.", "It seems that the pin is lost.", True),
        ("The PIN is lost.", "The PIN is lost", False),  # nothing more
        ("Lost.", "Is it lost?", True),
        ("Is it lost", "Is it really lost", False),
    ],
)
def test_what_holds_all_words_side_by_side_is_wrapped(source: str, output: str, wrapped: bool) -> None:
    assert _holds(Tagged.read(output).lowered, Tagged.read(source).lowered) == wrapped
