"""Texts as the latent models read and write them."""

from __future__ import annotations

import logging
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Literal

from paraform.records import InputError
from paraform.words import detokenize, recase, tokenize

UNKNOWN = re.compile(r"(?<!\S)(?:<unk>|_UNK)(?!\S)")
"""How corpora write an unknown word: the Penn Treebank's way, and that of Yahoo Answers."""

Text = Literal["words", "sentences"]


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
