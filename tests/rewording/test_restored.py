"""Lower-cased and cut text as a person would write it, and what cannot be used."""

from __future__ import annotations

import pytest

from paraform.rewording import fluency
from paraform_papers.shipped.restored import restored, unusable

USUAL = {"paris": "Paris", "nasa": "NASA", "iphone": "iPhone"}


@pytest.mark.parametrize(
    ("text", "ending", "expected"),
    [
        ("i do n't live in paris .", "", "I don't live in Paris."),
        ("no , nasa is n't in rome", ".", "No, NASA isn't in rome."),  # USUAL does not know Rome
        ("what is an iphone -lrb- really -rrb- ?", "", "What is an iPhone (really)?"),
        ("you are mine . ''", "", "You are mine."),
        ("`` you are mine . ''", "", "You are mine."),
        ("- come on , boy .", "", "Come on, boy."),
        ("He left `` Paris '' .", "", 'He left "Paris".'),
        ("He said: I don't know", "", "He said: I don't know"),
        ('He left, he said."', "", "He left, he said."),
        ('"What is ""it""?"', "", 'What is "it"?'),
        ("is it  so?", ".", "Is it so?"),
        ("", "", ""),
    ],
)
def test_a_text_is_restored(text: str, ending: str, expected: str) -> None:
    assert restored(text, USUAL, ending) == expected
    assert restored(expected, USUAL, ending) == expected  # what is written as a person writes stays


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("The cat is on the mat.", ""),
        ("It costs <unk> dollars.", "a mark for a word"),
        ("I paid _num_ dollars.", "a mark for a word"),
        ("it fell N points in october.", "a mark for a word"),
        ("they were priced to yield N N.", "a mark for a word"),
        ("N. Korea and N Korea are one.", ""),
        ('He said "go.', "quotation marks"),
        ("She 'said' so.", "quotation marks"),
        ("The cat (black is here.", "brackets"),
        ("The cat (old [or not]) sat.", ""),
        ("The cat is on the mat and the dog is there too.", "too long"),
        ("Qwx zzyq vvbn ggh.", "another language, or no sentence"),
    ],
)
def test_why_a_text_is_not_used(text: str, why: str) -> None:
    assert unusable(text, fluency.load(), most_words=11) == why
