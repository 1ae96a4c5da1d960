"""Words with their places, and words put together as their source has them."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from paraform.spans import cut, written
from paraform.words import detokenize, tokenize

TEXTS = st.text(st.sampled_from("aBc  '’\"“”.,?!-–()[]{}$%&@:;/1\n\t…`"), max_size=40)


@given(TEXTS)
def test_the_places_hold_the_words_and_nothing_stands_between(text: str) -> None:
    found = cut(text)
    assert [*found.words] == tokenize(text)
    ends = [0, *(end for _, end in found.spans)]
    starts = [*(start for start, _ in found.spans), len(text)]
    assert not "".join(text[end:start] for end, start in zip(ends, starts, strict=True)).strip()
    assert all(end > start for start, end in found.spans)


@given(TEXTS)
def test_a_text_put_together_again_is_the_text(text: str) -> None:
    assume(not re.search(r" (?:['n]|[.?!]\s*$)", text))  # which may have been taken apart before
    assert written(cut(text).words, cut(text)) == text.strip()


def test_real_texts_come_back(data: Path) -> None:
    """All of Quora's, but those that were taken apart before, or have a treebank's brackets."""
    lines = (data / "quora" / "dev.tsv").read_text(encoding="utf-8").splitlines()
    texts = [text.strip() for line in lines for text in line.split("\t")[:2]]
    same = [
        written(cut(text).words, cut(text)) == text
        for text in texts
        if not re.search(r" (?:['n]|[.?!]$)|-[lr]rb-", text)
    ]
    assert len(same) > 5_000 and all(same)


@pytest.mark.parametrize(
    ("source", "words", "text"),
    [
        ("Why can’t I go?", "what is the reason I ca n't go ?", "what is the reason I can’t go?"),
        ("How do I reach  [New York](city)?", "a way to reach [new_york](city) ?", "a way to reach  [New York](city)?"),
        ('Can I say "hello, you" (or hi) now?', "May I say `` hello , you '' now ?", 'May I say "hello, you" now?'),
        ("Is it 10%–20%?", "Will it be 10 % – 20 % ?", "Will it be 10%–20%?"),
        ("ASAP.... OK?", "Is it ASAP .... OK ?", "Is it ASAP.... OK?"),
        ("I will not go", "I will n't go", "I won't go"),
        ("do n't you go there ?", "why do n't you go there ?", "why don't you go there?"),
        ("What is -LRB-?", "what is ( ?", "what is (?"),
        ("a {X} b", "b , {x} a", "b, {X} a"),
    ],
)
def test_by_hand(source: str, words: str, text: str) -> None:
    assert written(words.split(), cut(source)) == text


NEW = ("the", "cat", "is", "n't", "'s", "(", ")", ",", ".", "?", "$", "5", "%", "``", "''", "can", "not", "@", "#", ":")


@given(st.lists(st.sampled_from(NEW), max_size=12))
def test_without_a_word_of_the_source_it_is_detokenize(words: list[str]) -> None:
    assert written(words, cut("zebra")) == detokenize(words)
