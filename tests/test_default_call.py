"""Which model rewords where none is named: by what the machine keeps."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
import torch

import paraform
from paraform import checkpoint, default_call
from paraform.cli import main
from paraform.default_call import MODEL, RULES, default_model, paraphraser_named
from paraform.records import InputError

PLAIN = "The old ruins fell down in the storm."  # which no rule has an answer for


class Fake:
    """Finds all that it is asked about as likely, and says one thing."""

    kind = "a fake"
    device = torch.device("cpu")

    def say(self, sources: Sequence[str], **how: Any) -> list[list[str]]:
        return [["In the storm the ancient ruins collapsed."] for _ in sources]

    def likelihood(self, sources: Sequence[str], targets: Sequence[str]) -> list[Any]:
        return [np.full(len(text) + 1, -0.01, np.float32) for text in targets]


@pytest.fixture
def loaded(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """`smollm2` is kept; what is loaded."""
    names: list[str] = []

    def load(name: str, **_: Any) -> Fake:
        names.append(name)
        return Fake()

    monkeypatch.setattr(default_call, "smollm2_folder", lambda: "somewhere")
    monkeypatch.setattr(checkpoint, "load", load)
    return names


def test_it_is_rules_where_the_base_is_not_kept() -> None:
    assert default_model() == RULES and paraphraser_named(None) is None


def test_it_is_loaded_where_rules_leave_a_text_out(loaded: list[str]) -> None:
    assert default_model() == MODEL
    (found,) = paraform.reword(["Can I use my card abroad?"], device="cpu")
    assert found.candidates and loaded == []  # by frames, and no word of it has a synonym
    (found,) = paraform.reword([PLAIN], device="cpu")
    assert found.candidates and found.candidates[0].figures["beside"] == pytest.approx(0, abs=0.2)
    assert loaded == [MODEL]


@pytest.mark.parametrize("named", [RULES, Fake()])
def test_what_is_named_is_taken(loaded: list[str], named: Any) -> None:
    (found,) = paraform.reword([PLAIN], model=named, device="cpu")
    assert bool(found.candidates) == isinstance(named, Fake) and loaded == []


def test_a_name_is_loaded(loaded: list[str]) -> None:
    (found,) = paraform.reword([PLAIN], model="folder", device="cpu")
    assert found.candidates and loaded == ["folder"]


def test_a_name_that_is_none() -> None:
    with pytest.raises(InputError):
        paraform.reword([PLAIN], model="no/such folder", device="cpu")


def test_the_command_says_how_to_get_more(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["paraphrase", PLAIN, "--device", "cpu", "--json"]) == 0
    told = capsys.readouterr()
    assert "paraform fetch smollm2" in told.err and '"model": "rules"' in told.out
    assert main(["paraphrase", PLAIN, "--device", "cpu", "--model", "rules"]) == 0
    assert "fetch" not in capsys.readouterr().err


def test_the_command_takes_the_model(loaded: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["paraphrase", PLAIN, "--device", "cpu", "--json"]) == 0
    assert f'"model": "{MODEL}"' in capsys.readouterr().out and loaded == [MODEL]
