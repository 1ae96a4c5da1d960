"""Pairs that change a number or a name are left out, whichever side lacks it; the words' case tells what is a name."""

from __future__ import annotations

import pytest

from paraform.records import Pair, Sentence
from paraform_papers.shipped.same_facts import pairs_of_same_facts

OTHERS = [
    "We saw Donald Trump and Iran in the US.",
    "We saw India, Paris, Rome, the IIT, an iPhone and then all of the big Iraq.",
    "how do we get from paris to rome",
]
"""What tells the case of names, each twice among the pairs."""


@pytest.mark.parametrize(
    ("source", "target", "same"),
    [
        ("How do I get to Paris?", "What is the way to Paris?", True),
        ("How do I get to Paris?", "What is the way to paris?", True),
        ("How do I get to Paris?", "What is the way to Rome?", False),
        ("How do I get to Paris?", "What is the way there?", False),
        ("How do I get there?", "What is the way to Paris?", False),
        ("how do i get to paris", "how do i get to rome", False),
        ("how do i get to paris", "how do i get there", False),
        ("How Do I Get To Paris?", "What is the way to Paris?", True),  # a title's capitals are no names
        ("What about Indian food?", "What about food in India?", True),
        ("Is an iPhone good?", "Are iPhones good?", True),
        ("What about Iran?", "What about Iraq?", False),
        ("Is Trump here?", "Is Donald Trump here?", False),
        ("Who can live in the US?", "Who can live there?", False),
        ("Who can live in the U.S.?", "Who can live in the US?", True),
        ("Is it for us?", "Is it for them?", True),
        ("Is the IIT-JAM hard?", "Is JAM of the IIT hard?", True),
        ("What about (really) me?", "What about me?", True),
        ("what about -lrb- really -rrb- me", "what about me", True),
        ("Do you have two?", "Do you have 2?", True),
        ("Do you have two?", "Do you have three?", False),
        ("Is 1,000 more than 3?", "Do you get more with 1000 than with 3?", True),
        ("Is 1,000 more than 3?", "Do you get more with 100 than with 3?", False),
        ("Do I get more?", "Do I get 2 more?", False),
    ],
)
def test_what_both_sides_have(source: str, target: str, same: bool, caplog: pytest.LogCaptureFixture) -> None:
    others = [Pair(Sentence(text), Sentence(text)) for text in OTHERS]
    pair = Pair(Sentence(source), Sentence(target), cluster=3)
    assert pairs_of_same_facts([pair, *others], max_tokens=15) == ([pair, *others] if same else others)
    left = 0 if same else 1
    assert f"{left} of 4 pairs have a number or a name on one side only; left out" in caplog.text


def test_what_is_behind_the_last_word_that_is_read_is_lost() -> None:
    pair = Pair(Sentence("Is it true that I get a lot more?"), Sentence("Is it true that I get 7?"))
    assert pairs_of_same_facts([pair], max_tokens=6) == [pair]
    assert pairs_of_same_facts([pair], max_tokens=7) == []


def test_case_may_be_told_by_other_texts() -> None:
    pair = Pair(Sentence("how do i get to paris"), Sentence("how do i get to rome"))
    assert pairs_of_same_facts([pair], max_tokens=10) == [pair]  # no text of theirs has a capital
    assert pairs_of_same_facts([pair], max_tokens=10, usual={"paris": "Paris"}) == []
