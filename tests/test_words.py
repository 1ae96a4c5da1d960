"""Words and back, against NLTK's word tokeniser on real questions and by hand."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from paraform import corpora
from paraform.words import detokenize, join_pieces, recase, tokenize


def test_the_words_are_nltks(data: Path) -> None:
    """At least 99.5 %: ours also takes `…` for a word, and leaves `'em`, `'tis` and `'twas` whole."""
    nltk = pytest.importorskip("nltk.tokenize.destructive").NLTKWordTokenizer()
    pairs = corpora.read(data / "quora" / "test.tsv")
    texts = list(dict.fromkeys(text for pair in pairs for text in (pair.source.text, pair.target.text)))
    # a typographer's apostrophe is NLTK's closing quotation mark, which splits a word in three
    same = [tokenize(text) == nltk.tokenize(re.sub(r"(?<=\w)’(?=\w)", "'", text)) for text in texts]
    assert len(texts) > 5_000 and sum(same) >= 0.995 * len(texts)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("Don't you think it's John's?", "Do n't you think it 's John 's ?"),
        ("Don’t stop", "Do n't stop"),
        ("Is $5 (or 5%) enough?", "Is $ 5 ( or 5 % ) enough ?"),
        ('What does "foo bar" mean?', "What does `` foo bar '' mean ?"),
        ("I cannot; I'm gonna", "I can not ; I 'm gon na"),
        ("Does the U.S. pay 3,000.50 units, e.g. now?", "Does the U.S. pay 3,000.50 units , e.g. now ?"),
        ("Wait... It's 10:30 pm.", "Wait ... It 's 10:30 pm ."),
        ("  \t white\n space ", "white space"),
        ("", ""),
    ],
)
def test_penn_treebank_words(text: str, words: str) -> None:
    assert tokenize(text) == words.split()


@pytest.mark.parametrize(
    "text",
    [
        "Don't you think it's John's, or isn't it?",
        "Is $5 (or 5%) enough?",
        'What does "foo bar" mean: "this"?',
        "Cannot you see I'm gonna get 'em? Gimme 10!",
        "Is C# better than F#, and who is #1?",
        "He said 'hello' to the students' teacher.",
        "What was #1 in the '90s?",
        "Rock 'n' roll: we'd, they've, you're, I'll...",
        "It's “quoted”; well… e.g. Mr. Smith's U.S. dog.",
        "A - B -- C; wow!! Really?",
    ],
)
def test_there_and_back(text: str) -> None:
    assert detokenize(tokenize(text)) == text


@pytest.mark.parametrize(
    ("words", "text"),
    [
        ("`` why not ? `` he asked", '"why not?" he asked'),  # behind a space, a closing mark comes as an opening one
        ('say " yes " , " no "', 'say "yes", "no"'),
        ("the ` word ' here", "the `word' here"),
        ("5 '' long", '5" long'),
        ("", ""),
    ],
)
def test_quotation_marks(words: str, text: str) -> None:
    assert detokenize(words.split()) == text


@given(st.text(alphabet=st.characters(codec="utf-8")))
def test_no_letter_is_lost(text: str) -> None:
    """Words hold what the text held, spaces and quotation marks apart; so does the text made of them again."""

    def letters(text: str) -> str:
        return re.sub(r"\s|[\"'`’]", "", text)

    assert letters("".join(tokenize(text))) == letters(text)
    assert letters(detokenize(tokenize(text))) == letters(text)


def test_join_pieces() -> None:
    pieces = ["para", "##form", "do", "n", "##'", "##t", "##", "#", "#"]
    assert join_pieces(pieces) == ["paraform", "do", "n't", "##", "#", "#"]
    assert join_pieces(["##form", "a"]) == ["##form", "a"]
    assert join_pieces([]) == []


def recased(words: str, usual: dict[str, str], written: str = "") -> str:
    return " ".join(recase(words.split(), usual, written.split()))


def test_recase() -> None:
    usual = {"paris": "Paris", "iphone": "iPhone", "us": "us"}
    assert recased("is paris in the us ? i think so .", usual) == "Is Paris in the us ? I think so ."
    assert recased("`` where is paris", usual) == "`` Where is Paris"
    assert recased("iphone sales", usual) == "iPhone sales"
    assert recased("", usual) == ""


def test_the_sources_writer_comes_first() -> None:
    words, written = "how do i meet zorblax of nasa in paris ?", "Where does Zorblax work in NASA ? How is PARIS ?"
    assert recased(words, {"paris": "Paris"}, written) == "How do I meet Zorblax of NASA in PARIS ?"
    # neither the capital of a sentence's first word nor text in capitals says anything
    assert recased("tell where it works", {}, "Works it ? Where ?") == "Tell where it works"
    assert recased("the cat works", {}, "THE CAT WORKS") == "The cat works"
