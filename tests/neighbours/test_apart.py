"""Pairs that are near and not the same, and pairs that are."""

from __future__ import annotations

import pytest

import paraform
from paraform.neighbours.apart import KINDS, differs

APART = [
    ("Refund order 1234.", "Refund order 1235.", "numbers"),
    ("Book a table for two.", "Book a table for three.", "numbers"),
    ("Send it to Alice.", "Send it to Bob.", "names"),
    ("Alice pays Bob.", "Bob pays Alice.", "roles"),
    ("Fly from Rome to Oslo", "Fly from Oslo to Rome", "names"),
    ("I can log in.", "I can't log in.", "negation"),
    ("Turn on the kitchen lights.", "Turn off the kitchen lights.", "negation"),
    ("Enable two-factor login", "Disable two-factor login", "negation"),
    ("Call me before lunch.", "Call me after lunch.", "negation"),
    ("Allow cookies", "Deny cookies", "negation"),
    ("Lower the volume", "Raise the volume", "negation"),
    ("The dog bites the man.", "The man bites the dog.", "roles"),
]
SAME = [
    ("How do I reset my PIN?", "What should I do to reset my PIN?"),
    ("Can I pay 1,000 dollars?", "Is it possible to pay 1000 dollars?"),
    ("Where is my card?", "where is my card"),
    ("Can I use my card in Rome?", "Is it possible to use my card in Rome?"),
    ("how do i get to paris", "How do I get to Paris?"),
    ("How To Learn Python", "How to learn Python"),
    ("WHAT IS PYTHON", "What is Python"),
    ("Who has the U.S. GDP?", "Who has the US GDP?"),
    ("I dont know", "I don't know"),
    ("I ate five apples", "I ate 5 apples"),
    ("Pay $1,000.00 for 3rd place", "Pay $1000 for third place"),
]


@pytest.mark.parametrize(("one", "other", "kind"), APART)
def test_apart(one: str, other: str, kind: str) -> None:
    assert differs(one, other) == differs(other, one) == kind
    assert differs(one, other, [name for name in KINDS if name != kind]) != kind


@pytest.mark.parametrize(("one", "other"), SAME)
def test_together(one: str, other: str) -> None:
    assert differs(one, other) is None is differs(other, one)


def test_none_of_these_is_dropped() -> None:
    """The nearest are kept apart, not the others; they are counted by kind."""
    texts = [text for one, other, _ in APART for text in (one, other)]
    merged = paraform.duplicates([*texts, *SAME[0]], threshold=0.7)
    found = paraform.duplicates([*texts, *SAME[0]], threshold=0.7, keep_apart=KINDS)
    assert len(merged.clusters) > 5 and found.clusters == [[24, 25]]
    assert found.apart.total() == len(merged.pairs) - len(found.pairs) and {*found.apart} <= {*KINDS}
