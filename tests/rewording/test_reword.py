"""Candidates made, checked, ranked and joined, with tools that are fakes; and the embedded model on real sentences."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, ClassVar, cast

import numpy as np
import pytest
import torch
from numpy.typing import NDArray

import paraform
from paraform import checkpoint
from paraform.records import Candidate, InputError, Rewording
from paraform.rewording.checks import Check
from paraform.rewording.drafts import Draft, framed_drafts
from paraform.rewording.frames import LONGEST
from paraform.rewording.judging import Tools
from paraform.rewording.parts import sentences_of
from paraform.rewording.reworder import Reworder, why
from paraform.rewording.standards import STANDARDS, Standards
from paraform.rewording.tagged import Tagged
from paraform.syntax.trees import Tree
from paraform.words import detokenize

TAGS = {
    "can": "MD", "will": "MD", "i": "PRP", "you": "PRP", "it": "PRP", "how": "WRB", "why": "WRB", "what": "WP",
    "do": "VBP", "is": "VBZ", "the": "DT", "a": "DT", "my": "PRP$", "to": "TO", "get": "VB", "pay": "VB", "open": "JJ",
    "buy": "VB", "we": "PRP", "us": "PRP", "go": "VB",
    "?": ".", ".": ".", "!": ".", ",": ",", "not": "RB", "tom": "NNP", "for": "IN", "with": "IN", "works": "VBZ",
    "big": "JJ", "large": "JJ", "possible": "JJ",
}  # fmt: skip
PASSES = Standards(grammar=99, grammar_decoded=99, words_decoded=99, content=-2, content_decoded=-2)
PAY, OPEN = "Can I pay with a card?", "It works."


def tag(sentences: Sequence[Sequence[str]]) -> list[list[str]]:
    return [[TAGS.get(word.lower(), "NN") for word in words] for words in sentences]


def embed(texts: Sequence[str]) -> NDArray[np.float32]:
    """Unit vectors of letters."""
    counts = np.array(
        [[text.lower().count(letter) + 0.01 for letter in "abcdefghijklmnopqrstuvwxyz"] for text in texts]
    )
    return (counts / np.linalg.norm(counts, axis=1, keepdims=True)).astype(np.float32)


TOOLS = Tools(tag=tag, embed=embed)


def reword(texts: Sequence[str], tools: Tools, *, standards: Standards = STANDARDS, **how: Any) -> list[Rewording]:
    return Reworder(tools, standards=standards).reword(texts, **how)


def passing(text: str, tools: Tools = TOOLS, **how: Any) -> list[Candidate]:
    """All that pass, those that say the same in the same content words too."""
    (row,) = Reworder(tools, standards=PASSES).judge([text], **how)
    return [one for one in row if not one.failed]


def texts_of(candidates: Sequence[Candidate]) -> list[str]:
    return [candidate.text for candidate in candidates]


def test_ranked_and_passed() -> None:
    """Scores fall, no check of a candidate is failed, no text comes twice, or as it was."""
    (found,) = reword([PAY], TOOLS, num=9, standards=PASSES)
    assert "Is it possible to pay with a card?" in texts_of(found.candidates) and found.reason == ""
    assert found.source == PAY
    assert not any(candidate.failed for candidate in found.candidates)
    every = passing(PAY)
    assert len(every) > len(found.candidates) > 1
    assert list(found.candidates) == [candidate for candidate in every if candidate in found.candidates]
    scores = [candidate.score for candidate in every]
    assert scores == sorted(scores, reverse=True)
    assert len({*texts_of(every), PAY}) == len(every) + 1
    for candidate in every:
        weights = PASSES.weights
        known = {name: candidate.figures[name] for name in ("content", "grammar", "words")}
        known |= {"changed": min(candidate.figures["edits"], 6), "framed": 1.0}
        score = sum(weights[name] * value for name, value in known.items())
        assert candidate.score - score == pytest.approx(0, abs=1e-6) or candidate.score - score == pytest.approx(-0.5)
        assert candidate.figures["content"] == pytest.approx(float(np.dot(*embed([PAY, candidate.text]))), abs=1e-5)


@pytest.mark.parametrize("source", ["Can we go to the US?", "Can we go to the US with us?"])
def test_a_name_in_capitals_is_no_word_of_a_frame(source: str) -> None:
    found = passing(source, replace(TOOLS, cased={"us": "US"}))
    assert source.replace("Can we", "Is it possible for us to") in texts_of(found)


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("I forgot my PIN.", "I can't remember my PIN."),
        ("I forgot my pin.", "I can't remember my pin."),
        ("WILL Tom pay the US?", "Do you think Tom will pay the US?"),
    ],
)
def test_an_acronym_that_a_frame_names_keeps_its_capitals(source: str, expected: str) -> None:
    assert expected in texts_of(passing(source))


def test_what_a_frame_and_the_tree_both_make_is_answered_for_by_the_tree() -> None:
    tree = Tree.parse(
        "(ROOT (S (SBAR (WHADVP (WRB When)) (S (NP (PRP I)) (VP (VBD was) (ADJP (JJ small))))) (, ,) (NP (PRP I))"
        " (VP (VBD lived) (PP (IN in) (NP (NNP Rome)))) (. .)))"
    )
    source, moved = Tagged(tree.words(), tree.tags()), "I lived in Rome when I was small."
    assert [draft.parsed for draft in framed_drafts(source, {}) if draft.text == moved] == [False]
    assert [draft.parsed for draft in framed_drafts(source, {}, tree) if draft.text == moved] == [True]


@pytest.mark.parametrize("name", ["tom", "Tom", "pm"])
def test_words_are_cased_as_their_writer_has_them(name: str) -> None:
    found = passing(f"Can I pay {name} here?", replace(TOOLS, cased={"tom": "Tom", "pm": "PM"}))
    assert found and all(name in text for text in texts_of(found))


def test_what_only_puts_words_around_comes_last() -> None:
    weights = {**dict.fromkeys(STANDARDS.weights, 0.0), "wrapped": STANDARDS.weights["wrapped"]}
    text, standards = "Why is the tea big?", replace(PASSES, weights=weights)
    (row,) = Reworder(TOOLS, standards=standards).judge([text])
    wrapped = [
        one.text.startswith(("Do you know", "Can you tell", "Could you tell", "Is it true"))
        for one in row
        if not one.failed
    ]
    assert wrapped == sorted(wrapped) and any(wrapped) and not all(wrapped)
    (found,) = reword([text], TOOLS, num=99, standards=standards)
    assert [one.wrapped for one in found.candidates] == [False] * (len(found.candidates) - 1) + [True]


@pytest.mark.parametrize("how", [{"beam": 2, "temperature": 0.5}, {"beam": 0}])
def test_one_way_of_decoding_is_asked_for(how: dict[str, Any]) -> None:
    with pytest.raises(InputError):
        reword([PAY], TOOLS, **how)
    with pytest.raises(InputError, match="a string where a list"):
        reword(PAY, TOOLS)


@pytest.mark.parametrize("num", [0, -1])
def test_fewer_than_one_is_an_error(num: int) -> None:
    with pytest.raises(InputError, match=f"num {num}; expected 1 or more"):
        reword([PAY], TOOLS, num=num)


@pytest.mark.parametrize("num", [1, 2, 3])
def test_at_most_num_the_best_first(num: int) -> None:
    text = "Why is the tea big?"
    (every,), (some,) = (reword([text], TOOLS, num=most, standards=PASSES) for most in (99, num))
    assert len(every.candidates) > 3 and some.candidates == every.candidates[:num]


def test_standards_throw_away() -> None:
    (found,) = reword([PAY], TOOLS, num=9, standards=replace(PASSES, grammar=-99))
    assert (found.candidates, found.reason) == ((), "its nearest rewording reads badly")
    # Of a frame that keeps every noun, verb and adjective no cosine is asked.
    assert reword([PAY], TOOLS, num=9, standards=replace(PASSES, content=1.1))[0].candidates
    for content, said in ((-2.0, ""), (1.1, "its nearest rewording says something else")):
        (found,) = reword(["My card works right away."], TOOLS, num=9, standards=replace(PASSES, content=content))
        assert (bool(found.candidates), found.reason) == (content < 0, said)


def test_sentences_are_joined_and_those_without_a_candidate_stay_as_they_are() -> None:
    (alone,) = reword([PAY], TOOLS, num=3, standards=PASSES)
    (joined,) = reword([f"  {OPEN} {PAY}\n{OPEN}"], TOOLS, num=3, standards=PASSES)
    assert texts_of(joined.candidates) == [f"  {OPEN} {text}\n{OPEN}" for text in texts_of(alone.candidates)]
    (twice,) = reword([f"{PAY} {PAY}"], TOOLS, num=2, standards=PASSES)
    assert texts_of(twice.candidates) == [f"{text} {text}" for text in texts_of(alone.candidates[:2])]
    both, one = twice.candidates[0], alone.candidates[0]
    assert both.score == pytest.approx(one.score) and both.exemplar == f"{one.exemplar}; {one.exemplar}"
    assert both.checks == one.checks


def test_reasons() -> None:
    texts = ["???", "Wo ist die Bank?", "WHERE IS MY BIG CARD", OPEN, ""]
    found = reword(texts, TOOLS, num=3, standards=PASSES)
    reasons = ["no words", "another language, or no sentence", "shouting", "no other form fits", "no words"]
    assert [one.reason for one in found] == reasons
    assert [one.source for one in found] == texts and not any(one.candidates for one in found)
    assert [one.reason for one in reword(["", "  ", "???"], TOOLS, force=True)] == ["no other form fits"] * 3
    assert reword([texts[2]], TOOLS, force=True, standards=PASSES)[0].candidates
    assert reword([], TOOLS) == []
    rows = [{"numbers": False, "added": False}, {"changed": False}, {"meaning": False}, {"fluent": False}]
    found = [Candidate("", "", row, 0.0) for row in rows]
    assert why(found) == "its nearest rewording says something else"  # a copy of the text is no rewording of it
    assert why(found[:2]) == "its nearest rewording is hardly another"
    assert why(found[2:3]) == "its only rewording says something else"


class Fake:
    """Says what it is told to in two forms of its own, and notes what it was asked."""

    kind: ClassVar[str] = "a fake"
    device: ClassVar[torch.device] = torch.device("cpu")
    outputs: ClassVar[dict[str, str]] = {
        "Form one": "Can I how buy tea?",
        "Form two": "How can I buy gold?",
        "Form three": "Buy how can I tea?",
        "Form four": "Buy how can I tea?",
    }

    def __init__(self) -> None:
        self.asked: list[tuple[str, str]] = []
        self.how: dict[str, Any] = {}

    def exemplars(self, sources: Sequence[str], like: object = None, **how: Any) -> list[list[str]]:
        return [list(self.outputs) for _ in sources]

    def decode(self, sources: Sequence[str], exemplars: Sequence[str], **how: Any) -> list[str]:
        self.asked += zip(sources, exemplars, strict=True)
        self.how = how
        return [self.outputs[form] for form in exemplars]

    def decoding_settings(self, **how: Any) -> dict[str, Any]:
        return {}


class ReadingBack(Fake):
    """And tells how well the source is won back."""

    def __init__(self) -> None:
        super().__init__()
        self.read_back: list[str] = []

    def source_given(self, sources: Sequence[str], outputs: Sequence[str]) -> NDArray[np.float32]:
        self.read_back += outputs
        return np.array([-0.51 if text.startswith("Can") else -0.49 for text in outputs], np.float32)


HOW = "How can I buy tea?"


def test_a_paraphraser_gives_further_candidates_behind_the_same_checks() -> None:
    """Outputs that lose a word fail; it is asked only where rules gave too few."""
    fake = Fake()
    reworder = Reworder(TOOLS, standards=PASSES, paraphraser=fake)
    (found,) = reworder.judge([HOW], num=99, temperature=0.5, seed=3, constrain_repetition=False)
    assert fake.asked == [(HOW, form) for form in fake.outputs]
    assert fake.how == {"temperature": 0.5, "seed": 3, "constrain_repetition": False}
    alone = passing(HOW, num=99)
    further = [one for one in found if not one.failed and one not in alone]
    assert sorted(texts_of(further)) == ["Buy how can I tea?", "Can I how buy tea?"]
    assert all(one.exemplar in fake.outputs and not one.framed for one in further)
    assert [one for one in found if one.framed and not one.failed] == alone
    assert "dropped" in next(one for one in found if one.text == "How can I buy gold?").failed
    fake.asked.clear()
    assert reworder.reword([HOW])[0].candidates and fake.asked == []  # a frame is enough
    assert reworder.reword([], num=99) == [] and fake.asked == []


def test_what_a_paraphraser_says_is_read_back_if_it_passes_all_else() -> None:
    fake = ReadingBack()
    (found,) = Reworder(TOOLS, standards=PASSES, paraphraser=fake).judge([HOW], num=99)
    read_back = {one.text: one.failed for one in found if "cycle" in one.checks}
    assert read_back == {fake.outputs["Form one"]: ["cycle"], fake.outputs["Form three"]: []}
    assert fake.read_back == [fake.outputs["Form one"], fake.outputs["Form three"]]


def test_a_paraphraser_without_exemplars_of_its_own_says_so_whatever_the_text_is() -> None:
    class Needy(Fake):
        def exemplars(self, sources: Sequence[str], like: object = None, **how: Any) -> list[list[str]]:
            raise InputError("a needy model needs a form: like=[exemplar] (--like)")

    for texts in ([HOW], ["???"]):
        with pytest.raises(InputError, match="needs a form"):
            Reworder(TOOLS, paraphraser=Needy()).reword(texts)


def test_what_is_no_paraphraser_is_an_error() -> None:
    with pytest.raises(InputError, match=r"expected one that paraphrases: paraform.load\(folder\)"):
        paraform.reword([HOW], model=cast(Any, embed), device="cpu")


def test_other_rules_and_other_checks_can_be_given() -> None:
    def shout(source: Tagged, cased: Mapping[str, str], tree: Tree | None) -> list[Draft]:
        return [Draft(detokenize(source.words).upper(), "LOUD", frozenset(), framed=True)]

    loud = Check(
        "loud", "is not loud", "words", lambda compared: all(not word.islower() for word in compared.output.words)
    )
    (found,) = Reworder(TOOLS, rules=shout, checks=[loud], standards=PASSES).reword([PAY])
    assert texts_of(found.candidates) == [PAY.upper()] and found.candidates[0].checks == {"loud": True}
    (found,) = Reworder(TOOLS, checks=[loud], standards=PASSES).reword([PAY])
    assert found.reason == "its nearest rewording is not loud"


def test_whatever_else_is_in_the_batch() -> None:
    texts = [PAY, f"{OPEN} {PAY}", "Will it pay?", PAY, "What is the big card?", "???"]
    together = reword(texts, TOOLS, num=3, standards=PASSES)
    assert together == [reword([text], TOOLS, num=3, standards=PASSES)[0] for text in texts]
    assert together == reword(texts[::-1], TOOLS, num=3, standards=PASSES)[::-1]


@pytest.mark.parametrize(
    "text",
    [
        "Can I pay\0 with a card?", "Can I pay 😀 with a card?", "Can\tI\npay with a card?", "Can I pay with İ?",
        "Can I pay (with a card", "Can I pay with \u2028 a card?", "-LRB- can I pay?", "?! Can I pay?", "can i pay",
    ],
)  # fmt: skip
def test_odd_characters(text: str) -> None:
    (found,) = reword([text], TOOLS, num=3, force=True, standards=PASSES)
    assert found.source == text and bool(found.candidates) != bool(found.reason)
    for mark in "\0😀":
        assert all((mark in text) == (mark in one.text) for one in found.candidates)


@pytest.mark.parametrize(
    "text",
    [
        "a" * 100_000, "a b " * 25_000, "Can I pay? " * 9_000, "big " * 25_000, "can i pay , " * 8_000,
        "what is " * 12_500, "a. " * 30_000, "\n" * 100_000, "😀" * 100_000, "big " * (LONGEST - 2) + "cat.",
        "large movies kids " * (LONGEST // 3),
    ],
    ids=lambda text: text[:12].strip(),
)  # fmt: skip
def test_long_texts_take_no_long_time(text: str) -> None:
    started = time.process_time()
    (found,) = reword([text], TOOLS, num=2, force=True, standards=PASSES)
    assert time.process_time() - started < 4
    assert bool(found.candidates) != bool(found.reason)


def test_assess_judges_any_output() -> None:
    sources, outputs = [PAY, PAY, OPEN], ["Is a card with can I pay?", "Can I buy a dog?", OPEN]
    judge = Reworder(TOOLS, standards=PASSES)
    found = judge.assess(sources, outputs, ["a", "b", "c"])
    assert texts_of(found) == outputs and [one.exemplar for one in found] == ["a", "b", "c"]
    assert "dropped" in found[1].failed and found[2].failed == ["changed"]
    assert {"content", "grammar", "words", "edits"} == found[0].figures.keys()
    assert found[2].figures["content"] == pytest.approx(1) and found[2].figures["grammar"] == 0
    assert judge.assess([], [], []) == []
    again = judge.assess(sources[::-1], outputs[::-1], ["c", "b", "a"])[::-1]
    assert [one.checks for one in again] == [one.checks for one in found]


def test_sentences() -> None:
    assert sentences_of("One is here.  Is two?\nThree") == ["One is here.", "Is two?", "Three"]
    assert sentences_of(" \n ") == []


def test_the_default_call() -> None:
    """Five ordinary sentences: each has rewordings, which pass every check and keep names, numbers and the mark."""
    sources = [
        "How can I learn French in 3 months?",
        "Where can I buy tea in London?",
        "What is the best way to lose weight?",
        "Can I pay with PayPal?",
        "I need to reset my password.",
    ]
    found = paraform.reword(sources, num=3, device="cpu")
    for source, one in zip(sources, found, strict=True):
        assert one.source == source and 1 <= len(one.candidates) <= 3, one.reason
        for candidate in one.candidates:
            assert not candidate.failed
            assert candidate.text != source and candidate.text[0].isupper()
            for word in ("French", "3", "London", "PayPal", "password", "weight"):
                assert (word in source) == (word in candidate.text)


def test_a_model_s_own_methods_say_what_is_used_now() -> None:
    """For one version more."""
    model = checkpoint.load("compact", device="cpu")
    sources, outputs = [PAY, "Wo ist die Bank?"], ["Is it possible to pay with a card?", "Where?"]
    with pytest.warns(DeprecationWarning, match=r"a model's reword .* use paraform\.reword\(texts, model=\"rules\"\)"):
        assert model.reword(sources, num=2) == paraform.reword(sources, num=2, device="cpu")
    judge = paraform.Reworder.default(paraphraser=model)
    with pytest.warns(DeprecationWarning, match=r"a model's assess .* use .*paraform\.reword"):
        assert model.assess(sources, outputs, ["", ""]) == judge.assess(sources, outputs, ["", ""])


@pytest.mark.parametrize(
    "text",
    [
        "Lay had refused to turn over the papers.",  # a name
        "Shoot, I would go there any day.",
        "Keep up the good work.",  # praise
        "Agree with most of the other reviews.",  # "I" is left out
        "Income rose to $570 million from $452 million in the same period a year ago.",  # whose time is it?
        "The office this week reported a surprise fall in output in August.",
        "Is AT&T's or H&M's shop open?",  # the parse has the shop elsewhere
        "What do your friends say ... they like about you?",
        "Eddington is to meet the unions later on Monday.",
    ],
)
def test_what_would_say_something_else_is_left_alone(text: str) -> None:
    """Each was reworded wrongly, and found by reading what a seed drew."""
    assert paraform.reword([text])[0].candidates == ()


@pytest.mark.parametrize("text", ["Set a timer for ten minutes.", "Request two days off.", "Delete my account."])
def test_commands(text: str) -> None:
    (found,) = paraform.reword([text], num=9)
    assert found.candidates[-1].text == f"Could you please {text[0].lower()}{text[1:-1]}?"


@pytest.mark.parametrize("end", ["...", "…", "?!", "!!", "??", " :)", "... OK?", " \N{GRINNING FACE}", "? <3"])
def test_an_end_of_its_own_stays(end: str) -> None:
    (found,) = paraform.reword([f"Can I get it today{end}"], num=3)
    assert len(found.candidates) > 1 and {one.text.split("today")[1] for one in found.candidates} == {end}


def test_words_written_apart_are_no_other_words() -> None:
    (row,) = Reworder.default().judge(["I don't want it any more."], num=3)
    assert [one.text for one in row if not one.failed] == ["I no longer want it."]


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        ("How does The Life of the Mind proceed?", "The Life of the Mind"),
        ("How is the weather in The Hague?", "The Hague"),
    ],
)
def test_a_word_in_two_cases_keeps_each(text: str, kept: str) -> None:
    (row,) = Reworder.default().judge([text], num=9)
    said = [one.text for one in row if not one.failed]
    assert len(said) > 2 and all(kept in one and "The weather" not in one[1:] for one in said)
