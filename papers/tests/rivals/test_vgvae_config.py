"""VGVAE's and CGEN's configuration: what is said of each field, what none can be, and what is whose."""

from __future__ import annotations

import re
from dataclasses import asdict, fields, replace
from typing import Any

import pytest

from paraform.records import InputError
from paraform_papers.rivals.vgvae import VgvaeConfig


def test_vgvae_is_cgen_but_for_what_its_paper_has_otherwise() -> None:
    cgen, averages = asdict(VgvaeConfig.paper()), asdict(VgvaeConfig.paper("averages"))
    assert {name: averages[name] for name in averages if averages[name] != cgen[name]} == {
        "form": "averages", "latent_codes": False, "word_noise": 0.0, "word_width": 50, "discriminative_weight": 1.0,
        "epochs": 50,
    }  # fmt: skip


def test_every_field_is_documented() -> None:
    documented: dict[str, str] = {}
    for names, text in re.findall(r"^        (\w[\w, ]*): (.*)", VgvaeConfig.__doc__ or "", re.MULTILINE):
        documented |= dict.fromkeys(names.split(", "), text)
    assert set(documented) == {field.name for field in fields(VgvaeConfig)}


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"semantic_width": 2}, "semantic_width 2; expected 3 to"),
        ({"word_noise": 1.5}, "word_noise 1.5; expected 0 to 1"),
        ({"discriminative_weight": -1.0}, "discriminative_weight -1.0; expected 0 or more"),
        ({"form": "bag"}, "form 'bag'; expected one of lstm, averages"),
        ({"form": "averages"}, "latent_codes with form='averages'; expected form='lstm', whose encoder reads them"),
    ],
)
def test_fields_that_cannot_be(wrong: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        replace(VgvaeConfig(), **wrong)
