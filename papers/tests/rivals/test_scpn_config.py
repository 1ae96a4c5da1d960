"""SCPN's configuration: what is said of each field, what none can be, and what its presets are."""

from __future__ import annotations

import re
from dataclasses import fields, replace

import pytest

from paraform.records import InputError
from paraform_papers.rivals.scpn import ScpnConfig


def test_every_field_is_documented() -> None:
    documented: dict[str, str] = {}
    for names, text in re.findall(r"^        (\w[\w, ]*): (.*)", ScpnConfig.__doc__ or "", re.MULTILINE):
        documented |= dict.fromkeys(names.split(", "), text)
    assert set(documented) == {field.name for field in fields(ScpnConfig)}


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"max_tokens": 1}, "max_tokens 1; expected 2 to"),
        ({"dropout": 1.0}, "dropout 1.0; expected 0 to 0.99"),
        ({"epochs": 0}, "epochs 0; expected 1 or more"),
        ({"decoder_width": 0}, "decoder_width 0; expected 1 to"),
        ({"schedule": "halving"}, "schedule 'halving'; expected one of constant, linear"),
    ],
)
def test_fields_that_cannot_be(wrong: dict[str, object], message: str) -> None:
    with pytest.raises(InputError, match=message):
        replace(ScpnConfig(), **wrong)  # type: ignore[arg-type]
