"""Which texts an English encoder cannot read, and how it says so."""

from __future__ import annotations

from typing import NamedTuple, cast

import numpy as np
import pytest

import paraform
from paraform.encoders import Encoder
from paraform.encoders.types import Splitter
from paraform.encoders.unread import unread_texts

READ = [
    "How do I send money?",
    "Café à Genève, naïve Œuvre",  # accents are taken off, and most pieces are longer than a letter
    "Comment virer de l'argent ?",
    "How do I say สวัสดี in Thai?",
    "— “quoted” —",
    "£5 or € 6",
    "...",  # marks alone, which it knows
    "one emoji 😀!!!",
]
UNREAD = [
    "😀",
    "ok 👍",  # half of it
    "😀!!! ...",  # marks are no words
    "",
    "\u200b",  # nothing that has a width
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
    assert paraform.load(name).unread(READ + UNREAD).tolist() == [False] * len(READ) + [True] * len(UNREAD)


def test_a_warning_counts_them_copies_too(minilm: Encoder, caplog: pytest.LogCaptureFixture) -> None:
    minilm.encode(["hello", "😀", "😎", "😀"])
    assert caplog.messages == ["3 of 4 texts have few words that minilm knows; its vectors say little of them"]
    caplog.clear()
    minilm.encode(READ)
    assert not caplog.messages


class Pieces(NamedTuple):
    """An encoding whose pieces are given; `<unk>` is number 0, as in a Unigram, whose tokens are the text's own."""

    ids: list[int]
    tokens: list[str]
    word_ids: list[int]
    overflowing: tuple[()] = ()


class Given:
    """A tokenizer of texts whose pieces are known."""

    def __init__(self, unknown: str | None, pieces: dict[str, Pieces]) -> None:
        self._unknown, self._pieces = unknown, pieces

    def token_to_id(self, token: str) -> int | None:
        return 0 if token == self._unknown else None

    def encode_batch(self, texts: list[str]) -> list[Pieces]:
        return [self._pieces[text] for text in texts]


def test_tokenizers_of_other_kinds() -> None:
    """By numbers, and a word in the share of its pieces: a Chinese sentence is one word of XLM-R's."""
    pieces = {
        "🫠": Pieces([4, 0], ["▁", "🫠"], [0, 0]),
        "今天天气很好🫠": Pieces([4, 5, 6, 0], ["▁今天", "天气", "很好", "🫠"], [0, 0, 0, 0]),
        "배우고 싶습니다": Pieces([*range(1, 7)], ["배", "##우", "##고", "싶", "##습", "##니다"], [0, 0, 0, 1, 1, 1]),
    }
    texts = list(pieces)
    found = unread_texts(cast(Splitter, Given("<unk>", pieces)), texts, list(pieces.values()))
    assert [texts[at] for at in found] == ["🫠"]
    assert unread_texts(cast(Splitter, Given(None, pieces)), texts, list(pieces.values())) == []


def test_parts_tell_the_same(minilm: Encoder, monkeypatch: pytest.MonkeyPatch) -> None:
    texts = (READ + UNREAD) * 2
    whole = minilm.unread(texts)
    monkeypatch.setattr("paraform.encoders.unread.TEXTS", 5)
    monkeypatch.setattr("paraform.encoders.unread.AT_ONCE", 2)
    assert np.array_equal(minilm.unread(texts), whole)


def test_what_they_are_left_out_for(minilm: Encoder) -> None:
    one, other = minilm.encode(["😀", "สวัสดีครับ"])
    assert np.array_equal(one, other)
