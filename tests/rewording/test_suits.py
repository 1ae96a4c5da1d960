"""Synonyms where a language model tells which suit: what is likely enough passes, and what comes of two of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

import numpy as np
import pytest
import torch
from numpy.typing import NDArray

from paraform.records import Candidate
from paraform.rewording import synonyms as table
from paraform.rewording.reworder import Reworder
from paraform.rewording.synonyms import Synonym

SOURCE = "The old shop near the mill sells soap and bread."
KNOWN: dict[tuple[str, ...], tuple[Synonym, ...]] = {
    ("shop",): (Synonym(frozenset(), ("store",), "nearly all"),),
    ("old",): (Synonym(frozenset(), ("ancient",), "most"),),
    ("near",): (Synonym(frozenset(), ("close", "to"), "some"),),
}


class Priced:
    """Finds each word as unlikely as it is told to, where the source has it not.

    Args:
        nats: of words.
        turned: of a sentence that has "bread and soap".
    """

    kind: ClassVar[str] = "a fake"
    device = torch.device("cpu")

    def __init__(self, nats: Mapping[str, float], turned: float = 99.0, read: int = 1000) -> None:
        self.nats, self.turned, self.read = nats, turned, read

    def say(self, sources: Sequence[str], **how: Any) -> list[list[str]]:
        raise AssertionError("sentences of its own are not asked for")

    def likelihood(self, sources: Sequence[str], targets: Sequence[str]) -> list[NDArray[np.float32]]:
        out = []
        for source, text in zip(sources, targets, strict=True):
            shares = np.full(len(text) + 1, -0.01, np.float32)
            cost = sum(nats for word, nats in self.nats.items() if word in text and word not in source)
            shares[0] -= cost + self.turned * ("bread and soap" in text)
            shares[self.read :] = 0
            out.append(shares)
        return out


@pytest.fixture(autouse=True)
def known(monkeypatch: pytest.MonkeyPatch) -> None:
    """Three synonyms and no other."""
    monkeypatch.setattr(table, "synonyms", lambda: KNOWN)


def judged(model: Priced, num: int = 9) -> dict[str, Candidate]:
    (row,) = Reworder.default("cpu", paraphraser=model).judge([SOURCE], num=num)
    return {one.text: one for one in row}


@pytest.mark.parametrize(
    ("word", "least"), [("store", 6.0), ("ancient", 5.0), ("close to", 3.5)], ids=["nearly all", "most", "some"]
)
def test_it_passes_if_it_is_likely_enough_for_how_many_sentences_it_suits(word: str, least: float) -> None:
    for nats, passes in ((least - 0.2, True), (least + 0.2, False)):
        found = judged(Priced({"store": 50, "ancient": 50, "close to": 50} | {word: nats}))
        (one,) = [one for one in found.values() if word in one.text]
        assert one.figures["beside"] == pytest.approx(-nats, abs=0.1)
        assert one.failed == ([] if passes else ["likely"]) and one.framed


def test_two_come_in_together_if_each_will_do_and_both_are_likely_enough() -> None:
    found = judged(Priced({"store": 1, "ancient": 1, "close to": 50}))
    both = "The ancient store near the mill sells soap and bread."
    assert both in found and not found[both].failed and found[both].figures["edits"] == 2
    assert not any("close to" in text and "store" in text for text in found)  # the one will not do
    assert max(found.values(), key=lambda one: one.score).text == both  # which changes more than one of them
    found = judged(Priced({"store": 2.5, "ancient": 2.5, "close to": 50}))
    assert both not in found  # each will do, both together are not likely enough


def test_the_sides_of_an_and_are_turned_if_that_is_likely() -> None:
    turned = "The old shop near the mill sells bread and soap."
    unlikely = {"store": 50, "ancient": 50, "close to": 50}
    for nats, passes in ((4.0, True), (6.0, False)):
        one = judged(Priced(unlikely, nats))[turned]
        assert one.figures["beside"] == pytest.approx(-nats, abs=0.1) and bool(one.failed) != passes


def test_what_the_model_does_not_read_to_its_end_does_not_pass() -> None:
    found = judged(Priced({}, read=20))
    told = [one for one in found.values() if "beside" in one.figures]
    assert told and all(one.failed == ["likely"] for one in told)


def test_rules_of_ones_own_are_all_that_is_asked() -> None:
    tools = Reworder.default("cpu").tools
    assert Reworder(tools, rules=lambda *_: [], paraphraser=Priced({})).judge([SOURCE]) == [[]]
