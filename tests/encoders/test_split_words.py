"""Words that were split already are read as their text is, by each kind of tokenizer."""

from __future__ import annotations

import pytest
from tokenizers import Tokenizer, models, pre_tokenizers

from paraform.encoders.elmo_words import BOS_NUMBER, EOS_NUMBER, NumberedWords, WordTokenizer
from paraform.encoders.split_words import encode_words

SENTENCES = [["the", "cat", "sat", "12", "the"], ["cat"], []]


def byte_level(prefix: bool = False) -> Tokenizer:
    """As SmolLM2's: digits apart, a space before a word in its first piece."""
    merges = [("t", "h"), ("th", "e"), ("Ġ", "the"), ("c", "a"), ("ca", "t"), ("Ġ", "cat")]
    tokens = [*sorted(pre_tokenizers.ByteLevel.alphabet()), *map("".join, merges)]
    made = Tokenizer(models.BPE({token: row for row, token in enumerate(tokens)}, merges))
    digits, spaces = pre_tokenizers.Digits(individual_digits=True), pre_tokenizers.ByteLevel(add_prefix_space=prefix)
    made.pre_tokenizer = spaces if prefix else pre_tokenizers.Sequence([digits, spaces])
    return made


def metaspace() -> Tokenizer:
    """As T5's, which puts the mark of a word there itself."""
    tokens = ["<unk>", "▁", "▁the", "▁cat", "▁sat", "▁12", "▁a"]
    made = Tokenizer(models.Unigram([(token, -1.0) for token in tokens], unk_id=0))
    made.pre_tokenizer = pre_tokenizers.Metaspace()
    return made


def word_piece() -> Tokenizer:
    tokens = ["[UNK]", "the", "cat", "sat", "12", "a"]
    made = Tokenizer(models.WordPiece({token: row for row, token in enumerate(tokens)}, unk_token="[UNK]"))
    made.pre_tokenizer = pre_tokenizers.Whitespace()
    return made


@pytest.mark.parametrize(
    "tokenizer", [byte_level(), byte_level(prefix=True), metaspace(), word_piece()], ids=["bytes", "prefix", "▁", "##"]
)
def test_words_have_the_pieces_of_their_text(tokenizer: Tokenizer) -> None:
    for words, found in zip(SENTENCES, encode_words(tokenizer, SENTENCES), strict=True):
        assert found.ids == tokenizer.encode(" ".join(words)).ids
        assert sorted({word for word in found.word_ids if word is not None}) == list(range(len(words)))


def test_without_the_space_they_have_not() -> None:
    """What the space is put there for."""
    glued = byte_level().encode(SENTENCES[0], is_pretokenized=True)
    assert glued.tokens[:2] == ["the", "cat"] and encode_words(byte_level(), SENTENCES)[0].tokens[:2] == ["the", "Ġcat"]
    assert encode_words(byte_level(), SENTENCES)[0].word_ids == [0, 1, 2, 2, 2, 2, 3, 3, 3, 4]


def test_words_of_elmo_stay_as_they_are() -> None:
    made = NumberedWords(WordTokenizer(10, 50))
    assert [found.tokens for found in encode_words(made, [["x", "y"]])] == [["<S>", "x", "y", "</S>"]]
    assert {BOS_NUMBER, EOS_NUMBER} < set(made.words) and len(made.words) == 5  # and the word that was tried


def test_a_word_of_nothing_has_no_piece() -> None:
    assert encode_words(byte_level(), [["the", "", "cat"]])[0].word_ids == [0, 2]
