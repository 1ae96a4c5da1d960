"""What ELMo reads: a text's words, and of each word the bytes of UTF-8, without a vocabulary."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple, final

from paraform.words import tokenize

BOS, EOS, WORD_BEGINS, WORD_ENDS, NO_CHARACTER = range(256, 261)  # 0 to 255 are the bytes of UTF-8
CHARACTERS = 261
BOS_NUMBER, EOS_NUMBER = 0, 1  # of the marks at a sentence's ends, as numbers of words


def word_number(word: str) -> int:
    """The word as a number, which holds its bytes: no vocabulary is kept."""
    return int.from_bytes(b"\x01" + word.encode(errors="replace"), "big") + 2


def characters_of(number: int, most: int) -> list[int]:
    """The characters of a word's number, at most so many, its boundary marks among them."""
    if number in (BOS_NUMBER, EOS_NUMBER):
        return [WORD_BEGINS, BOS if number == BOS_NUMBER else EOS, WORD_ENDS]
    number -= 2
    encoded = number.to_bytes((number.bit_length() + 7) // 8, "big")[1:]
    return [WORD_BEGINS, *encoded[: most - 2], WORD_ENDS]


class WordEncoding(NamedTuple):
    """A sentence as ELMo reads it, with the names that `tokenizers.Encoding` has."""

    ids: list[int]
    tokens: list[str]
    word_ids: list[int | None]
    overflowing: list[WordEncoding]


@final
@dataclass(frozen=True)
class WordTokenizer:
    """Texts to words, the Penn Treebank's, with the methods of `tokenizers.Tokenizer` that an `Encoder` calls.

    Args:
        max_words: a longer text is cut there.
        max_characters: of a word, for the digest; `Elmo` cuts.
    """

    max_words: int
    max_characters: int

    def encode_batch_fast(self, texts: Sequence[str]) -> list[WordEncoding]:
        """The words of each text."""
        return [self._encoded(tokenize(text)) for text in texts]

    def encode_batch(self, sentences: Sequence[Sequence[str]], is_pretokenized: bool = True) -> list[WordEncoding]:
        """The same of sentences that are words already."""
        return [self._encoded(words) for words in sentences]

    def token_to_id(self, token: str) -> int | None:
        """None: there are no pieces."""
        return None

    def to_str(self) -> str:
        """What of it changes a state."""
        return f"penn-treebank words, UTF-8 bytes, {self.max_characters} characters, {self.max_words} words"

    def _encoded(self, words: Sequence[str], first: int = 0) -> WordEncoding:
        kept, rest = list(words[: self.max_words]), words[self.max_words :]
        over = [self._encoded(rest, first + len(kept))] if rest else []
        places: list[int | None] = list(range(first, first + len(kept)))
        return WordEncoding(list(map(word_number, kept)), kept, places, over)


@final
class NumberedWords:
    """A `WordTokenizer` whose numbers are small, in the order in which words are first met, as rows of a table are.

    The marks at a sentence's ends are among its pieces, as [CLS] and [SEP] are among BERT's; a word has one piece.
    """

    def __init__(self, tokenizer: WordTokenizer) -> None:
        self._tokenizer = tokenizer
        self._rows = {BOS_NUMBER: 0, EOS_NUMBER: 1}

    @property
    def words(self) -> list[int]:
        """The words that were met, each as `word_number` has it: row i of a table is the vector of word i."""
        return list(self._rows)

    def encode_batch_fast(self, texts: Sequence[str]) -> list[WordEncoding]:
        """The words of each text."""
        return list(map(self._numbered, self._tokenizer.encode_batch_fast(texts)))

    def encode_batch(self, sentences: Sequence[Sequence[str]], is_pretokenized: bool = True) -> list[WordEncoding]:
        """The same of sentences that are words already."""
        return list(map(self._numbered, self._tokenizer.encode_batch(sentences, is_pretokenized)))

    def token_to_id(self, token: str) -> int | None:
        """None: there are no pieces."""
        return None

    def to_str(self) -> str:
        """What of it changes a state: not which words were met before."""
        return self._tokenizer.to_str()

    def _numbered(self, found: WordEncoding) -> WordEncoding:
        rows = [self._rows.setdefault(word, len(self._rows)) for word in (BOS_NUMBER, *found.ids, EOS_NUMBER)]
        over = list(map(self._numbered, found.overflowing))
        return WordEncoding(rows, ["<S>", *found.tokens, "</S>"], [None, *found.word_ids, None], over)
