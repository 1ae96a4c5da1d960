"""What is looked at in stages is judged as if all of it were: the same drafts pass, and the same reason is given."""

from __future__ import annotations

import zlib
from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from paraform.records import Candidate
from paraform.rewording.checks import CHECKS, Compared, check
from paraform.rewording.drafts import Draft
from paraform.rewording.judging import Judge, Tools
from paraform.rewording.reworder import why
from paraform.rewording.standards import Standards
from paraform.rewording.tagged import Tagged

WORDS = ("what", "can", "cards", "card", "use", "not", "in", "Spain", "5", "is", "?", "the", "paid")
TAGS = ("NN", "NNP", "VB", "VBD", "IN", "DT", "MD", "JJ")
SOURCE = "Can the card not use 5 cards in Spain ?"
REORDERED = ("In Spain can the card not use 5 cards ?", "Can the card not use in Spain 5 cards ?")

sentences = st.lists(st.sampled_from(WORDS), min_size=1, max_size=10)


def code(text: str) -> int:
    return zlib.crc32(text.encode())


class Fake:
    """Any tags and vectors, always the same of a text; and which texts they were asked for."""

    def __init__(self) -> None:
        self.tagged: list[str] = []
        self.embedded: list[str] = []
        self.read_back: list[str] = []

    def tag(self, rows: Sequence[Sequence[str]]) -> list[list[str]]:
        self.tagged += (" ".join(words) for words in rows)
        return [[TAGS[code(" ".join(words) + word) % len(TAGS)] for word in words] for words in rows]

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        self.embedded += texts
        return np.array([np.random.default_rng(code(text) % 5).normal(size=2) for text in texts], np.float32)

    def source_given(self, sources: Sequence[str], outputs: Sequence[str]) -> NDArray[np.float32]:
        self.read_back += outputs
        return np.array([-(code(text) % 2) for text in outputs], np.float32)

    def weighed(self, drafts: Sequence[Draft], *, thorough: bool) -> list[Candidate]:
        words = SOURCE.split()
        source = Tagged(words, self.tag([words])[0])
        standards = Standards(content=0.0, content_decoded=0.5, grammar=1.0, grammar_decoded=9.0, words_decoded=9.0)
        tools = Tools(tag=self.tag, embed=self.embed, source_given=self.source_given)
        (row,) = Judge(tools, standards)([SOURCE], [source], [drafts], thorough=thorough)
        return row


@given(st.lists(sentences, unique_by=tuple, max_size=12), st.lists(st.booleans(), min_size=12, max_size=12))
def test_the_same_pass_and_others_fail_for_the_same_reason(texts: list[list[str]], framed: list[bool]) -> None:
    drafts = [
        Draft(" ".join(words), "form", frozenset(WORDS) if from_frame else frozenset(), from_frame)
        for words, from_frame in zip(texts, framed, strict=False)  # few drafts of random words pass all
    ]
    drafts += [Draft(text, "form", frozenset(WORDS), framed=framed[0]) for text in REORDERED]
    staged, whole = Fake(), Fake()
    found, expected = staged.weighed(drafts, thorough=False), whole.weighed(drafts, thorough=True)
    passed = [one for one in expected if not one.failed]
    assert [one for one in found if not one.failed] == passed
    assert passed or why(sorted(found, key=lambda one: -one.score)) == why(sorted(expected, key=lambda one: -one.score))
    assert set(staged.tagged) <= set(whole.tagged) and set(staged.embedded) <= set(whole.embedded)
    assert sorted(staged.read_back) == sorted(whole.read_back)
    assert len(set(staged.embedded)) == len(staged.embedded)  # nothing twice


def test_a_draft_whose_words_fail_costs_neither_tags_nor_vectors() -> None:
    """One has another number, denies and drops words; the other says the same in another order."""
    fake = Fake()
    wrong, other = "The card was never paid 6 times .", "Can the card not use in Spain 5 cards ?"
    found = fake.weighed([Draft(text, "form", frozenset(), framed=True) for text in (wrong, other)], thorough=False)
    assert {"numbers", "dropped"} <= set(found[0].failed) and found[0].score == -np.inf
    assert list(found[0].checks) == [one.name for one in CHECKS if one.needs == "words"]
    assert wrong not in fake.tagged + fake.embedded and other in fake.tagged


def test_the_reason_where_all_that_pass_cannot_be_read_back() -> None:
    """Two drafts deny nothing, and have another meaning too, which shows only when they are looked at further."""

    class Adverbs(Fake):
        def tag(self, rows: Sequence[Sequence[str]]) -> list[list[str]]:
            return [["RB"] * len(words) for words in rows]

        def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
            return np.array([[1, 0] if "not" in text else [0, 1] for text in texts], np.float32)

        def source_given(self, sources: Sequence[str], outputs: Sequence[str]) -> NDArray[np.float32]:
            self.read_back += outputs
            return np.array([-1.0 for _ in outputs], np.float32)

    texts = (REORDERED[1], *(text.replace("not ", "") for text in REORDERED))
    drafts = [Draft(text, "form", frozenset(), framed=False) for text in texts]
    for thorough in (False, True):
        fake = Adverbs()
        found = fake.weighed(drafts, thorough=thorough)
        assert fake.read_back == [REORDERED[1]]
        assert [one.failed for one in found] == [["cycle"], ["negation", "meaning"], ["negation", "meaning"]]
        assert why(found) == "its nearest rewording does not lead back to the text"


@given(sentences, sentences, st.lists(st.sampled_from(TAGS), min_size=20, max_size=20), st.booleans())
def test_what_needs_words_alone_says_the_same_without_the_output_s_tags(
    source: list[str], output: list[str], tags: list[str], framed: bool
) -> None:
    given_source, given_output = Tagged(source, tags[: len(source)]), Tagged(output, tags[10 : 10 + len(output)])
    made = check(given_source, given_output, framed=framed)
    compared = Compared(given_source, Tagged(output, ()), framed=framed)
    alone = {one.name: one(compared) for one in CHECKS if one.needs == "words"}
    assert alone and alone.items() <= made.items()


@pytest.mark.parametrize("thorough", [True, False])
def test_no_drafts(thorough: bool) -> None:
    assert Fake().weighed([], thorough=thorough) == []
