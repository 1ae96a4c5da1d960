"""Fidelity: the presets of a seq2seq differ only where AESOP's paper and code disagree (docs/systems/seq2seq.md)."""

from __future__ import annotations

import re
from dataclasses import asdict, fields, replace

import pytest

from paraform.models.seq2seq import Seq2SeqConfig
from paraform.records import InputError

DISAGREEMENTS = {"written_tree": 1, "source_tree": 2, "validate_on": 3}


def test_presets_differ_only_where_paper_and_code_disagree() -> None:
    paper, code, default = (
        asdict(config) for config in (Seq2SeqConfig.paper(), Seq2SeqConfig.reference(), Seq2SeqConfig())
    )
    assert {name: (paper[name], code[name]) for name in paper if paper[name] != code[name]} == {
        "written_tree": ("whole", "none"),
        "source_tree": ("labels", "words"),
        "validate_on": ("paraphrase", "exemplar"),
    }
    assert default == paper


def test_every_field_is_documented_with_its_item() -> None:
    documented: dict[str, str] = {}
    for names, text in re.findall(r"^        (\w[\w, ]*): (.*)", Seq2SeqConfig.__doc__ or "", re.MULTILINE):
        documented |= dict.fromkeys(names.split(", "), text)
    assert set(documented) == {field.name for field in fields(Seq2SeqConfig)}
    assert {name: text[1] for name, text in documented.items() if text.startswith("[")} == {
        name: str(item) for name, item in DISAGREEMENTS.items()
    }


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"height": 1}, "height 1; expected 2 to 200"),
        ({"max_pieces": 7}, "max_pieces 7; expected 8 to"),
        ({"accumulation": 257}, "accumulation 257 above batch_size 256; expected at most that"),
        ({"written_tree": "half"}, "written_tree 'half'; expected one of whole, cut, none"),
        ({"epochs": 0}, "epochs 0; expected 1 or more"),
    ],
)
def test_fields_that_cannot_be(wrong: dict[str, object], message: str) -> None:
    with pytest.raises(InputError, match=message):
        replace(Seq2SeqConfig(), **wrong)  # type: ignore[arg-type]
