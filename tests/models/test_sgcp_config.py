"""Fidelity: the presets of SGCP differ only where paper and code disagree (docs/systems/sgcp.md)."""

from __future__ import annotations

import re
from dataclasses import asdict, fields, replace

import pytest

from paraform.records import InputError
from paraform_papers.rivals.sgcp import SgcpConfig

DISAGREEMENTS = {"mask_padding": 1, "height_draw": 2, "double_updates": 3, "smoothing": 4, "gate": 5}


def test_presets_differ_only_where_paper_and_code_disagree() -> None:
    paper, code, default = (asdict(config) for config in (SgcpConfig.paper(), SgcpConfig.reference(), SgcpConfig()))
    assert {name: (paper[name], code[name]) for name in paper if paper[name] != code[name]} == {
        "mask_padding": (True, False),
        "height_draw": ("pair", "epoch"),
        "double_updates": (False, True),
        "smoothing": (0.0, 1e-5),
        "gate": ("linear", "gelu"),
    }
    assert default == paper


def test_every_field_is_documented_with_its_item() -> None:
    documented: dict[str, str] = {}
    for names, text in re.findall(r"^        (\w[\w, ]*): (.*)", SgcpConfig.__doc__ or "", re.MULTILINE):
        documented |= dict.fromkeys(names.split(", "), text)
    assert set(documented) == {field.name for field in fields(SgcpConfig)}
    assert {name: text[1] for name, text in documented.items() if text.startswith("[")} == {
        name: str(item) for name, item in DISAGREEMENTS.items()
    }


def test_sizes() -> None:
    """60 pieces at most, as in the code."""
    assert SgcpConfig.paper().most_written == 60 and SgcpConfig.compact().most_written == 30


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"max_tokens": 1}, "max_tokens 1; expected 2 to"),
        ({"least_height": 1}, "least_height 1; expected 2 to"),
        ({"least_height": 8}, "least_height 8 above most_height 7"),
        ({"teacher_forcing": 1.1}, "teacher_forcing 1.1; expected 0 to 1"),
        ({"epochs": 0}, "epochs 0; expected 1 or more"),
        ({"height": "whole"}, "height 'whole'; expected one of full, best"),
    ],
)
def test_fields_that_cannot_be(wrong: dict[str, object], message: str) -> None:
    with pytest.raises(InputError, match=message):
        replace(SgcpConfig(), **wrong)  # type: ignore[arg-type]
