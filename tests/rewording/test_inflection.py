"""The past tense of English verbs."""

from __future__ import annotations

import pytest

from paraform.rewording.inflection import past


@pytest.mark.parametrize(
    ("verb", "tense"),
    [
        ("go", "went"),
        ("cut", "cut"),
        ("work", "worked"),
        ("charge", "charged"),
        ("try", "tried"),
        ("play", "played"),
        ("stop", "stopped"),
        ("transfer", "transferred"),
        ("open", "opened"),
        ("show", "showed"),
        ("fix", "fixed"),
        ("need", "needed"),
    ],
)
def test_past_tense(verb: str, tense: str) -> None:
    assert past(verb) == tense
