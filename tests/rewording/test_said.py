"""What a language model says of sentences that rules have no answer for: how often it is asked, and what passes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np
import pytest
import torch
from numpy.typing import NDArray

from paraform.records import InputError
from paraform.rewording.reworder import SAMPLES, Reworder

SOURCE = "The old ruins fell down in May."


class Fake:
    """Says what it is told to; of what it says, characters of the words in `odd` are unlikely."""

    kind: ClassVar[str] = "a fake"
    device = torch.device("cpu")

    def __init__(self, *rounds: Sequence[str], odd: Sequence[str] = ()) -> None:
        self.rounds, self.odd = list(rounds), odd
        self.asked: list[tuple[list[str], int]] = []

    def say(self, sources: Sequence[str], *, num: int = 8, **how: Any) -> list[list[str]]:
        self.asked.append((list(sources), num))
        said = self.rounds.pop(0)
        return [list(said) for _ in sources]

    def likelihood(self, sources: Sequence[str], targets: Sequence[str]) -> list[NDArray[np.float32]]:
        out = []
        for text in targets:
            shares = np.full(len(text) + 1, -0.05, np.float32)
            for word in self.odd:
                if (at := text.find(word)) >= 0:
                    shares[at : at + len(word)] = -2
            out.append(shares)
        return out


def said(model: Fake, source: str = SOURCE, num: int = 1) -> list[str]:
    """By no rule: these would move "in May" themselves."""
    tools = Reworder.default("cpu").tools
    (found,) = Reworder(tools, rules=lambda *_: [], paraphraser=model).reword([source], num=num)
    return [one.text for one in found.candidates]


def test_it_is_asked_again_only_where_nothing_passes() -> None:
    model = Fake(["In May the ancient ruins fell down."], ["never"])
    assert said(model) == ["In May the ancient ruins fell down."] and model.asked == [([SOURCE], SAMPLES[0])]
    model = Fake(["The new ruins did not fall."], ["In May the ancient ruins fell down."])
    assert said(model) == ["In May the ancient ruins fell down."]
    assert model.asked == [([SOURCE], SAMPLES[0]), ([SOURCE], SAMPLES[1])]
    model = Fake()
    (found,) = Reworder.default("cpu", paraphraser=model).reword(["Can I use my card abroad?"])
    assert found.candidates and model.asked == []


@pytest.mark.parametrize(
    ("answer", "odd"),
    [
        ("In May the ancient ruins fell down.", ["ancient"]),  # unlikely in the place of "old"
        ("In May the ancient ruins fell down.", ["old"]),  # which is not read off it
        ("In May the ruins fell down.", []),  # something is left out
        ("In June the ancient ruins fell down.", []),  # a name
        ("In May the ancient ruins never fell down.", []),
        ("Did the ancient ruins fall down in May?", []),
        ("In May the ancient ruins fell down. I am a model.", []),
        ("In May you saw the ancient ruins fall down.", []),
        ("In May the ancient ruins could fall down.", []),
        ("In May we had the ancient ruins fell down.", []),  # a verb too many
        ("In May the ancient ruins fell down to.", ["to"]),
        ("In May the ancient stone ruins of Rome fell down at once.", []),
        (SOURCE, []),
        ("", []),
    ],
)
def test_what_does_not_pass(answer: str, odd: list[str]) -> None:
    assert said(Fake([answer], [answer], odd=odd)) == []


def test_it_answers_in_the_manner_of_its_source() -> None:
    assert said(Fake(["In May the ancient ruins fell down."]), "the old ruins fell down in may") == [
        "in may the ancient ruins fell down"
    ]


def test_a_model_that_does_neither_is_refused() -> None:
    with pytest.raises(InputError, match="expected one that paraphrases"):
        Reworder.default("cpu", paraphraser=object())  # type: ignore[arg-type]
