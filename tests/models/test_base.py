"""What every paraphraser shares: its exemplars, and what is looked at before it decodes."""

from __future__ import annotations

from typing import Any, ClassVar, Unpack

import pytest
import torch

from paraform.capabilities import Paraphraser
from paraform.decoding import Decoding
from paraform.models.base import AbstractParaphraser, require_words
from paraform.records import InputError


class Echo(AbstractParaphraser):
    system: ClassVar[str] = "echo"
    kind: ClassVar[str] = "an echo"
    asks: ClassVar[str] = ""

    def __init__(self) -> None:
        super().__init__()
        self.weight = torch.nn.Parameter(torch.zeros(1))
        self.bank = ("a b", "c d")

    def _like(self, sources: list[str], exemplars: list[str], how: Decoding) -> list[str]:
        return [f"{source} {like} {how}" for source, like in zip(sources, exemplars, strict=True)]

    def decoding_settings(self, **how: Unpack[Decoding]) -> dict[str, Any]:
        return dict(how)


class Asks(Echo):
    asks: ClassVar[str] = "like=[exemplar]"


def test_exemplars_are_drawn_from_the_bank_or_asked_for() -> None:
    assert isinstance(Echo(), Paraphraser) and Echo().device.type == "cpu"
    assert sorted(Echo().exemplars(["x"], num=2)[0]) == ["a b", "c d"]
    assert Echo().exemplars(["x"], ["e f"]) == Asks().exemplars(["x"], ["e f"]) == [["e f"]]
    with pytest.raises(InputError, match=r"^an echo needs a form: like=\[exemplar\]$"):
        Asks().exemplars(["x"])


def test_what_cannot_be_decoded_is_told_first() -> None:
    assert Echo().decode(["x"], ["a b"], beam=2) == ["x a b {'beam': 2}"]
    with pytest.raises(InputError, match="1 sources, 2 exemplars"):
        Echo().decode(["x"], ["a b", "c d"])
    with pytest.raises(InputError, match="beam 2, temperature 1"):
        Echo().decode(["x"], ["a b"], beam=2, temperature=1.0)
    with pytest.raises(TypeError, match="abstract"):
        AbstractParaphraser()  # type: ignore[abstract]  # that is tested
    assert require_words([["a"], ["b"]], "source") == [["a"], ["b"]]
    with pytest.raises(InputError, match="source 2 is empty; expected a sentence"):
        require_words([["a"], []], "source")
