"""What is written as a person would, of models with their own case and of those without."""

from __future__ import annotations

from paraform.models.writing import as_cased


def test_what_has_a_case_of_its_own_keeps_it() -> None:
    assert as_cased("the NASA.", {}, "x") == "the NASA."
    assert as_cased("the nasa .", {"nasa": "NASA"}, "x") == "The NASA."
