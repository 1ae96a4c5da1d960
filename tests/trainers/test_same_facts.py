"""Pairs that change a number or a name are left out, whichever side lacks it."""

from __future__ import annotations

import pytest

from paraform.records import Pair, Sentence
from paraform.trainers.same_facts import pairs_of_same_facts


@pytest.mark.parametrize(
    ("source", "target", "same"),
    [
        ("How do I get to Paris?", "What is the way to Paris?", True),
        ("How do I get to Paris?", "What is the way to paris?", True),
        ("How do I get to Paris?", "What is the way to Rome?", False),
        ("How do I get to Paris?", "What is the way there?", False),
        ("How do I get there?", "What is the way to Paris?", False),
        ("Is 1,000 more than 3?", "Do you get more with 1000 than with 3?", True),
        ("Is 1,000 more than 3?", "Do you get more with 100 than with 3?", False),
        ("Do I get more?", "Do I get 2 more?", False),
        (
            "Is it true, as some people say, that I get a lot more?",
            "Is it true, as some people say, that I get 7?",
            True,
        ),
    ],
)
def test_what_both_sides_have(source: str, target: str, same: bool, caplog: pytest.LogCaptureFixture) -> None:
    """In ten words: what stands behind them is not read."""
    other = Pair(Sentence("Who is it?"), Sentence("Who is that?"))
    pair = Pair(Sentence(source), Sentence(target), cluster=3)
    assert pairs_of_same_facts([pair, other], max_tokens=10) == ([pair, other] if same else [other])
    left = 0 if same else 1
    assert f"{left} of 2 pairs have a number or a name on one side only; left out" in caplog.text
