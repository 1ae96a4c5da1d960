"""What a language model says of sentences that rules have no answer for: how often it is asked, and what passes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, ClassVar

import numpy as np
import pytest
import torch
from numpy.typing import NDArray

from paraform.records import InputError
from paraform.rewording.checks import CHECKS, Compared
from paraform.rewording.reworder import ANSWERS, CHANGED_FURTHER, FURTHER, Reworder
from paraform.rewording.standards import STANDARDS
from paraform.rewording.tagged import Tagged

SOURCE = "The old ruins fell down in May."


class Fake:
    """Says what it is told to; of what it says, characters of the words in `odd` are unlikely."""

    kind: ClassVar[str] = "a fake"
    device = torch.device("cpu")

    def __init__(self, *rounds: Sequence[str], odd: Sequence[str] = ()) -> None:
        self.rounds, self.odd = list(rounds), odd
        self.asked: list[tuple[list[str], int, list[str] | None]] = []

    def say(
        self, sources: Sequence[str], *, num: int = 8, onto: Sequence[str] | None = None, **how: Any
    ) -> list[list[str]]:
        self.asked.append((list(sources), num, None if onto is None else list(onto)))
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


def reworder_of(model: Fake) -> Reworder:
    """Which has no rules, and asks the model for sentences of its own."""
    tools, standards = Reworder.default("cpu").tools, replace(STANDARDS, own_words=True)
    return Reworder(tools, rules=lambda *_: [], paraphraser=model, standards=standards)


def said(model: Fake, source: str = SOURCE, num: int = 1, **how: Any) -> list[str]:
    """By no rule: these would move "in May" themselves."""
    (found,) = reworder_of(model).reword([source], num=num, **how)
    return [one.text for one in found.candidates]


PASSES, SLIGHT = "In May the ancient ruins fell down.", "The ancient ruins fell down in May."
FIRST = ([SOURCE], ANSWERS, None)


def test_it_is_asked_only_where_too_little_passes() -> None:
    model = Fake([PASSES])
    assert said(model) == [PASSES] and model.asked == [FIRST]
    model = Fake()
    (found,) = Reworder.default("cpu", paraphraser=model).reword(["Can I use my card abroad?"])
    assert found.candidates and model.asked == []


def test_what_lacks_nothing_but_a_change_is_changed_further() -> None:
    """Each of the first few such answers, and no other; SOURCE itself is one."""
    model = Fake([SLIGHT, "The new ruins did not fall."], [PASSES])
    assert said(model) == [PASSES] and model.asked == [FIRST, ([SOURCE], FURTHER, [SLIGHT])]
    model = Fake(["The new ruins did not fall."])
    assert said(model) == [] and model.asked == [FIRST]
    slight = [SLIGHT, SOURCE, "The aged ruins fell down in May.", "The antique ruins fell down in May."]
    model = Fake(slight, [PASSES, PASSES])
    assert said(model) == [PASSES]
    assert model.asked[1:] == [([SOURCE] * CHANGED_FURTHER, FURTHER, slight[:CHANGED_FURTHER])]


def test_a_sentence_of_which_enough_passes_is_not_changed_further() -> None:
    model = Fake([PASSES, SLIGHT])
    assert said(model) == [PASSES] and model.asked == [FIRST]


def test_what_is_said_further_goes_to_its_own_sentence() -> None:
    """Of two sentences the one has an answer that passes, the other two that are changed further, each in its way."""
    other = "The new roofs fell down in June."
    slight = ["The brand-new roofs fell down in June.", "The modern roofs fell down in June."]
    further = {slight[0]: "In June the roofs fell.", slight[1]: "In June the modern roofs fell down."}

    class Knowing(Fake):
        def say(
            self, sources: Sequence[str], *, num: int = 8, onto: Sequence[str] | None = None, **how: Any
        ) -> list[list[str]]:
            self.asked.append((list(sources), num, None if onto is None else list(onto)))
            if onto is None:
                return [[PASSES] if one == SOURCE else slight for one in sources]
            return [[further[one]] for one in onto]

    model = Knowing()
    found = reworder_of(model).reword([SOURCE, other])
    assert [[one.text for one in row.candidates] for row in found] == [[PASSES], [further[slight[1]]]]
    assert model.asked == [([SOURCE, other], ANSWERS, None), ([other, other], FURTHER, slight)]


def test_what_is_drawn_is_not_changed_further() -> None:
    model = Fake([SLIGHT])
    assert said(model, temperature=0.5) == [] and model.asked == [FIRST]


def test_of_what_says_the_same_in_the_same_words_one_is_given() -> None:
    """And another is asked for: one that passes is too few where two are wanted."""
    comma, other = "In May, the ancient ruins fell down.", "In May the aged ruins fell down."
    model = Fake([PASSES, comma, SLIGHT], [other])
    assert said(model, num=2) == [comma, other] and model.asked[1:] == [([SOURCE], FURTHER, [SLIGHT])]


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


@pytest.mark.parametrize(
    ("check", "source", "output", "kept"),
    [
        ("persons", "She covers her tracks.", "He covers his tracks.", False),
        ("persons", "She covers her tracks.", "Her tracks she covers.", True),
        ("persons", "Can you tell me a joke?", "Can I tell you a joke?", False),
        ("persons", "I trust you.", "We trust you.", True),  # the writer, whether alone or not
        ("persons", "I can pay.", "I should pay.", False),
        ("question", "How many legs has it?", "What is the number of its legs?", True),
        ("question", "How has it legs?", "How many legs has it?", False),
        ("question", "Is it mine?", "Why is it mine?", False),
        ("question", "It is mine.", "It is mine, when it is.", True),  # no question
    ],
)
def test_what_was_said_is_about_the_same_persons_and_asks_alike(
    check: str, source: str, output: str, kept: bool
) -> None:
    (found,) = (one for one in CHECKS if one.name == check)
    one, other = (
        sentence._replace(tags=("NN",) * len(sentence.words)) for sentence in map(Tagged.read, (source, output))
    )
    assert found(Compared(one, other, said=True)) is kept
    assert found(Compared(one, other))  # of nothing else


@pytest.mark.parametrize(
    ("source", "output", "kept"),
    [
        ("It/PRP was/VBD good/JJ", "It/PRP is/VBZ good/JJ", False),
        ("It/PRP is/VBZ good/JJ", "It/PRP was/VBD good/JJ", False),
        ("They/PRP shut/VBD it/PRP", "It/PRP was/VBD shut/VBN", True),
        ("I/PRP lost/VBD it/PRP", "I/PRP have/VBP lost/VBN it/PRP", True),
        ("I/PRP lost/VBD it/PRP", "I/PRP have/VBP it/PRP", False),  # "have" alone is no perfect
    ],
)
def test_what_is_past_stays_past(source: str, output: str, kept: bool) -> None:
    (found,) = (one for one in CHECKS if one.name == "tense")
    one, other = (
        Tagged([word for word, _ in pairs], [tag for _, tag in pairs])
        for pairs in ([word.rsplit("/", 1) for word in text.split()] for text in (source, output))
    )
    assert found(Compared(one, other, said=True)) is kept
    assert found(Compared(one, other))  # of nothing else
