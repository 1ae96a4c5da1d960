"""A seq2seq's configuration: what is said of each field, and what none can be."""

from __future__ import annotations

import re
from dataclasses import fields, replace

import pytest

from paraform.models.seq2seq import Seq2SeqConfig
from paraform.records import InputError


def test_every_field_is_documented() -> None:
    documented: dict[str, str] = {}
    for names, text in re.findall(r"^        (\w[\w, ]*): (.*)", Seq2SeqConfig.__doc__ or "", re.MULTILINE):
        documented |= dict.fromkeys(names.split(", "), text)
    assert set(documented) == {field.name for field in fields(Seq2SeqConfig)}


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"height": 1}, "height 1; expected 2 to 200"),
        ({"max_pieces": 7}, "max_pieces 7; expected 8 to"),
        ({"accumulation": 257}, "accumulation 257 above batch_size 256; expected at most that"),
        ({"written_tree": "half"}, "written_tree 'half'; expected one of whole, cut"),
        ({"epochs": 0}, "epochs 0; expected 1 or more"),
    ],
)
def test_fields_that_cannot_be(wrong: dict[str, object], message: str) -> None:
    with pytest.raises(InputError, match=message):
        replace(Seq2SeqConfig(), **wrong)  # type: ignore[arg-type]
