"""Fidelity: the presets of SCPN differ only where paper and code disagree (docs/systems/scpn.md)."""

from __future__ import annotations

import re
from dataclasses import asdict, fields, replace

import pytest

from paraform.records import InputError
from paraform_papers.rivals.scpn import ScpnConfig

DISAGREEMENTS = {"copy_mixture": 1, "input_parse": 2, "schedule": 3, "length_penalty": 4, "min_tokens": 5}


def test_presets_differ_only_where_paper_and_code_disagree() -> None:
    presets = [asdict(config) for config in (ScpnConfig.paper(), ScpnConfig.reference(), ScpnConfig())]
    assert {name for name in presets[0] if len({repr(preset[name]) for preset in presets}) > 1} == set(DISAGREEMENTS)
    paper, code = presets[:2]
    assert {name: (paper[name], code[name]) for name in DISAGREEMENTS if paper[name] != code[name]} == {
        "copy_mixture": ("probabilities", "log_probabilities"),
        "input_parse": (True, False),
        "schedule": ("constant", "halving"),
        "min_tokens": (0, 5),
    }


def test_every_field_is_documented_with_its_item() -> None:
    documented: dict[str, str] = {}
    for names, text in re.findall(r"^        (\w[\w, ]*): (.*)", ScpnConfig.__doc__ or "", re.MULTILINE):
        documented |= dict.fromkeys(names.split(", "), text)
    assert set(documented) == {field.name for field in fields(ScpnConfig)}
    assert {name: text[1] for name, text in documented.items() if text.startswith("[")} == {
        name: str(item) for name, item in DISAGREEMENTS.items()
    }


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"max_tokens": 1}, "max_tokens 1; expected 2 to"),
        ({"dropout": 1.0}, "dropout 1.0; expected 0 to 0.99"),
        ({"epochs": 0}, "epochs 0; expected 1 or more"),
        ({"decoder_width": 0}, "decoder_width 0; expected 1 to"),
        ({"min_tokens": 41}, "min_tokens 41 above max_tokens 40"),
        ({"copy_mixture": "both"}, "copy_mixture 'both'; expected one of probabilities, log_probabilities"),
    ],
)
def test_fields_that_cannot_be(wrong: dict[str, object], message: str) -> None:
    with pytest.raises(InputError, match=message):
        replace(ScpnConfig(), **wrong)  # type: ignore[arg-type]
