"""Fidelity: the presets of VGVAE differ only where paper and code disagree (docs/systems/vgvae.md)."""

from __future__ import annotations

import re
from dataclasses import asdict, fields, replace
from typing import Any

import pytest

from paraform.records import InputError
from paraform_papers.rivals.vgvae import VgvaeConfig

DISAGREEMENTS = {"latent_codes": 1, "word_noise": 2, "positions": 3, "length_penalty": 4}


def test_presets_differ_only_where_paper_and_code_disagree() -> None:
    presets = [asdict(config) for config in (VgvaeConfig.paper(), VgvaeConfig.reference(), VgvaeConfig())]
    assert {name for name in presets[0] if len({repr(preset[name]) for preset in presets}) > 1} == set(DISAGREEMENTS)
    paper, code = presets[:2]
    assert {name: (paper[name], code[name]) for name in DISAGREEMENTS if paper[name] != code[name]} == {
        "latent_codes": (True, False),
        "word_noise": (0.9, 0.0),
        "positions": (0, 32),
    }
    averages = [asdict(preset("averages")) for preset in (VgvaeConfig.paper, VgvaeConfig.reference)]
    assert {name for name in averages[0] if averages[0][name] != averages[1][name]} == {"positions"}
    assert {name: averages[0][name] for name in averages[0] if averages[0][name] != paper[name]} == {
        "form": "averages", "latent_codes": False, "word_noise": 0.0, "word_width": 50, "discriminative_weight": 1.0,
        "epochs": 50,
    }  # fmt: skip


def test_every_field_is_documented_with_its_item() -> None:
    documented: dict[str, str] = {}
    for names, text in re.findall(r"^        (\w[\w, ]*): (.*)", VgvaeConfig.__doc__ or "", re.MULTILINE):
        documented |= dict.fromkeys(names.split(", "), text)
    assert set(documented) == {field.name for field in fields(VgvaeConfig)}
    assert {name: text[1] for name, text in documented.items() if text.startswith("[")} == {
        name: str(item) for name, item in DISAGREEMENTS.items()
    }


def test_places() -> None:
    assert VgvaeConfig(max_tokens=17).places == 17 and VgvaeConfig.reference().places == 32


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"semantic_width": 2}, "semantic_width 2; expected 3 to"),
        ({"word_noise": 1.5}, "word_noise 1.5; expected 0 to 1"),
        ({"positions": -1}, "positions -1; expected 0 to"),
        ({"discriminative_weight": -1.0}, "discriminative_weight -1.0; expected 0 or more"),
        ({"form": "bag"}, "form 'bag'; expected one of lstm, averages"),
        ({"form": "averages"}, "latent_codes with form='averages'; expected form='lstm', whose encoder reads them"),
    ],
)
def test_fields_that_cannot_be(wrong: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        replace(VgvaeConfig(), **wrong)
