"""Which texts an English encoder cannot read, and how it says so."""

from __future__ import annotations

import numpy as np
import pytest

import paraform
from paraform.encoders import Encoder

READ = [
    "How do I send money?",
    "Café à Genève, naïve Œuvre",  # accents are taken off, and most pieces are longer than a letter
    "Comment virer de l'argent ?",
    "How do I say สวัสดี in Thai?",
    "— “quoted” —",
    "£5 or € 6",
    "",
    "...",
]
UNREAD = [
    "😀",
    "ok 👍",  # half of it
    "สวัสดีครับ",
    "Γειά σου",  # pieces of one letter or two
    "Сегодня хорошая погода в Москве",
    "안녕하세요",
    "今天天气很好",  # two of six characters
    "x" * 300,  # a WordPiece of over 100 characters is unknown, too
]


def test_texts_of_unknown_words_and_of_letters(minilm: Encoder) -> None:
    assert minilm.unread(READ + UNREAD).tolist() == [False] * len(READ) + [True] * len(UNREAD)
    assert minilm.unread([]).shape == (0,) and minilm.unread([]).dtype == bool


@pytest.mark.parametrize(
    "name", ["compact", "minilm-disentangled", "minilm-par", "minilm@layer=3", "compact@vectors=content"]
)
def test_models_on_an_encoder_tell_the_same(name: str) -> None:
    assert paraform.load(name).unread(READ + UNREAD).sum() == len(UNREAD)


def test_a_warning_counts_them_copies_too(minilm: Encoder, caplog: pytest.LogCaptureFixture) -> None:
    minilm.encode(["hello", "😀", "😎", "😀"])
    assert caplog.messages == [
        "3 of 4 texts are mostly words that minilm does not know; its vectors do not tell what they say"
    ]
    caplog.clear()
    minilm.encode(READ)
    assert not caplog.messages


def test_what_they_are_left_out_for(minilm: Encoder) -> None:
    one, other = minilm.encode(["😀", "สวัสดีครับ"])
    assert np.array_equal(one, other)
