"""How words are mostly written inside sentences, and which text tells."""

from __future__ import annotations

from paraform.words import tokenize
from paraform_papers.shipped.usual_case import shows_case, usual_case


def test_the_usual_case_is_that_inside_sentences() -> None:
    texts = [
        "Paris is big. Rome is old.",  # what opens a sentence says nothing
        "We like Paris and NASA.",
        "we like paris and paris and rome",  # nor does text without capitals
        "We Like Trains In Rome.",  # nor a title
        "Do you know Mark, the US, or May?",  # stop words are no names
        "I put a mark on it, and a mark.",
    ]
    assert usual_case(map(tokenize, texts)) == {"paris": "Paris", "nasa": "NASA"}


def test_which_text_shows_case() -> None:
    shown = {"I go to Rome .": True, "i go": False, "WHO IS IT": False, "Go": True, "1 , 2": False, "": False}
    assert {text: shows_case(text.split()) for text in shown} == shown
