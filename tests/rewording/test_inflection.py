"""The past tense of English verbs, and the base of a form."""

from __future__ import annotations

import pytest

from paraform.rewording.inflection import base_of, forms, past


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


def test_the_base_of_a_form_is_found_again() -> None:
    """Of verbs that the n-grams know, and none of a form that is no verb's."""
    verbs = [
        "create", "include", "require", "decide", "change", "close", "use", "agree", "stop",
        "plan", "occur", "admit", "control", "prefer", "add", "call", "pass", "fill", "work",
        "study", "try", "enjoy", "fix", "watch", "push", "develop", "offer", "open", "visit",
        "see", "go", "write", "say",
    ]  # fmt: skip
    for verb in verbs:
        for tag in ("VBZ", "VBD"):
            assert base_of(forms(verb, "VB")[tag], tag) == verb
    assert base_of("brillig", "VBD") == base_of("zorgled", "VBD") == base_of("zorgles", "VBZ") == ""
