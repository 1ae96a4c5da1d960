"""SGCP's configuration: what is said of each field, and what none can be."""

from __future__ import annotations

import re
from dataclasses import fields, replace

import pytest

from paraform.records import InputError
from paraform_papers.rivals.sgcp import SgcpConfig


def test_every_field_is_documented() -> None:
    documented: dict[str, str] = {}
    for names, text in re.findall(r"^        (\w[\w, ]*): (.*)", SgcpConfig.__doc__ or "", re.MULTILINE):
        documented |= dict.fromkeys(names.split(", "), text)
    assert set(documented) == {field.name for field in fields(SgcpConfig)}


def test_sizes() -> None:
    """60 pieces at most, as in the code."""
    assert SgcpConfig.paper().most_written == 60 and SgcpConfig.compact().most_written == 30


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"max_tokens": 1}, "max_tokens 1; expected 2 to"),
        ({"epochs": 0}, "epochs 0; expected 1 or more"),
        ({"height": "whole"}, "height 'whole'; expected one of full, best"),
    ],
)
def test_fields_that_cannot_be(wrong: dict[str, object], message: str) -> None:
    with pytest.raises(InputError, match=message):
        replace(SgcpConfig(), **wrong)  # type: ignore[arg-type]
