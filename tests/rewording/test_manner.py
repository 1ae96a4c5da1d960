"""An answer in its source's manner, by hand."""

from __future__ import annotations

import pytest

import paraform
from paraform.rewording.manner import in_manner


@pytest.mark.parametrize(
    ("source", "text", "wanted"),
    [
        ("how do i pay in new york", "What should I do to pay in New York?", "what should i do to pay in new york"),
        ("what is my PIN?", "Can you tell me what my PIN is?", "can you tell me what my PIN is?"),
        ("mxn or EUR", "Either MXN or EUR.", "either mxn or EUR"),
        ("How do I pay", "What should I do to pay?", "What should I do to pay"),
        ("How do I pay...", "What should I do to pay...", "What should I do to pay..."),
        ('He said "no"', 'His word was "no".', 'His word was "no"'),
        ("i use {Name} at https://A.b/C", "At https://A.b/C I use {Name}.", "at https://A.b/C i use {Name}"),
        ("Is it $5?", "Does it cost $5?", "Does it cost $5?"),
        ("iPhones are dear.", "IPhones cost a lot.", "IPhones cost a lot."),
        ("{name} is here", "Here is {name}.", "here is {name}"),
        ("don't go", "Don’t leave, I say!", "don’t leave, i say"),
        ("5 + 5", "Ten.", "Ten"),
    ],
)
def test_by_hand(source: str, text: str, wanted: str) -> None:
    assert in_manner(text, source) == wanted
    assert in_manner(wanted, source) == wanted


def test_small_letters_stay_small() -> None:
    sources = ["how do i get a card in new york", "can i pay in mxn and eur", "where is my order"]
    texts = [one.text for row in paraform.Reworder.default().judge(sources) for one in row if not one.failed]
    assert len(texts) > 9 and all(text == text.lower() and text[-1].isalpha() for text in texts)
