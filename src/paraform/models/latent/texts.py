"""Texts as the latent models read and write them: rows of numbers, of words or of a language model's pieces."""

from __future__ import annotations

import logging
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Literal, Protocol, final

from tokenizers import Tokenizer

from paraform.batching import BOS, EOS, PAD, UNK, Vocabulary
from paraform.records import InputError
from paraform.words import detokenize, recase, tokenize

UNKNOWN = re.compile(r"(?<!\S)(?:<unk>|_UNK)(?!\S)")
"""How corpora write an unknown word: the Penn Treebank's way, and that of Yahoo Answers."""

Text = Literal["words", "sentences"]


class Lexicon(Protocol):
    """What texts are made of, by number."""

    @property
    def start(self) -> int:
        """The number before the first unit."""

    @property
    def stop(self) -> int:
        """The number behind the last one."""

    @property
    def never(self) -> list[int]:
        """Numbers that are never written."""

    @property
    def known(self) -> tuple[str, frozenset[str]]:
        """How texts are split, and the units known: likelihoods compare between models of one lexicon."""

    def __len__(self) -> int: ...

    def split(self, text: str) -> list[str]:
        """A text's units."""

    def encode(self, units: Sequence[str]) -> list[int]:
        """Their numbers."""

    def unknown(self, row: Sequence[int]) -> int:
        """How many numbers of a row are of no unit that is known."""

    def write(self, row: Sequence[int]) -> str:
        """The text of a row of numbers."""


@final
class Words:
    """Lower-cased words of a vocabulary; what is not in it is `<unk>`."""

    start, stop = BOS, EOS

    def __init__(self, vocabulary: Vocabulary, how: Text) -> None:
        self.vocabulary, self.how = vocabulary, how

    @property
    def never(self) -> list[int]:
        """No padding, no start; and `<unk>` in a corpus of words alone, where it stands for a word."""
        return [PAD, BOS] if self.how == "words" else [PAD, BOS, UNK]

    @property
    def known(self) -> tuple[str, frozenset[str]]:
        """As `Lexicon`."""
        return self.how, frozenset(self.vocabulary.words)

    def __len__(self) -> int:
        return len(self.vocabulary)

    def split(self, text: str) -> list[str]:
        """As `read_words`."""
        return read_words(text, self.how)

    def encode(self, units: Sequence[str]) -> list[int]:
        """As the vocabulary, whatever their case."""
        return self.vocabulary.encode([word.lower() for word in units])

    def unknown(self, row: Sequence[int]) -> int:
        """Those included that a corpus writes `<unk>`."""
        return row.count(UNK)

    def write(self, row: Sequence[int]) -> str:
        """As `write_words`."""
        return write_words([self.vocabulary.words[number] for number in row], self.how, self.vocabulary.cased)


@final
class Pieces:
    """Pieces of a language model's tokenizer, as a rule of bytes, which leave nothing unknown.

    Args:
        tokenizer: the model's own; it is not changed.
        start, stop: marks of a begin and an end.
    """

    def __init__(self, tokenizer: Tokenizer, start: int, stop: int) -> None:
        self._tokenizer = Tokenizer.from_str(tokenizer.to_str())
        self._tokenizer.no_padding()
        self._tokenizer.no_truncation()
        self._tokenizer.encode_special_tokens = True  # a text that holds "<|im_end|>" is a text
        self._numbers = self._tokenizer.get_vocab()
        self._unknown = self._numbers.get(str(getattr(self._tokenizer.model, "unk_token", None)))
        self.start, self.stop = start, stop

    @property
    def never(self) -> list[int]:
        """No mark but the end."""
        added = self._tokenizer.get_added_tokens_decoder()
        return sorted({self.start, *(number for number, token in added.items() if token.special)} - {self.stop})

    @property
    def known(self) -> tuple[str, frozenset[str]]:
        """As `Lexicon`."""
        return "pieces", frozenset(self._numbers)

    def __len__(self) -> int:
        return len(self._numbers)

    def split(self, text: str) -> list[str]:
        """The pieces, as the tokenizer writes them; of white space alone none."""
        tokens: list[str] = self._tokenizer.encode(text, add_special_tokens=False).tokens if text.strip() else []
        return tokens

    def encode(self, units: Sequence[str]) -> list[int]:
        """The tokenizer's numbers. Raises: InputError for a piece without one, of a tokenizer that knows no other."""
        numbers = [self._numbers.get(piece, self._unknown) for piece in units]
        if None in numbers:
            raise InputError(f"{units[numbers.index(None)]!r}, which the base's tokenizer has no piece for")
        return [number for number in numbers if number is not None]

    def unknown(self, row: Sequence[int]) -> int:
        """As the tokenizer says; of bytes none."""
        return 0 if self._unknown is None else row.count(self._unknown)

    def write(self, row: Sequence[int]) -> str:
        """The text that the pieces spell."""
        text: str = self._tokenizer.decode(list(row))
        return text.strip()


def read_words(text: str, how: Text) -> list[str]:
    """The words of a text; an unknown word is `<unk>`, however the corpus writes it.

    Args:
        how: "words" (apart by white space) or "sentences" (as people write).
    """
    if how == "words":
        return ["<unk>" if word == "_UNK" else word for word in text.split()]
    words: list[str] = []
    for number, part in enumerate(UNKNOWN.split(text)):
        words += (["<unk>"] if number else []) + list(tokenize(part))
    return words


def write_words(words: Sequence[str], how: Text, cased: Mapping[str, str]) -> str:
    """Lower-cased words as a text: with the casing of the training text and, of sentences, a person's spaces."""
    if how == "words":
        return " ".join(cased.get(word, word) for word in words)
    return detokenize(recase(words, cased, ()))


def short_enough(texts: Sequence[str], words: Callable[[str], list[str]], most: int, name: str) -> list[str]:
    """The texts of 1 to `most` words; one warning counts the others.

    Args:
        words: a text's words, as the model reads them.
    Raises: InputError if none is left.
    """
    kept = [text for text in texts if 1 <= len(words(text)) <= most]
    if len(kept) < len(texts):
        logging.getLogger("paraform").warning(
            "%s: %d of %d sentences are empty or have more than %d words; left out",
            name,
            len(texts) - len(kept),
            len(texts),
            most,
        )
    if not kept:
        raise InputError(f"{name}: no sentence of 1 to {most} words; expected some")
    return kept
