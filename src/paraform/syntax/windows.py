"""Sentences cut to what the encoder reads, and words of one length put together, so that nothing is padded."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import Any

import numpy as np

from paraform.encoders import Encoder

MAX_CHARACTERS = 40  # of a word; its beginning is enough for a tag


def windows_of(words: Sequence[str], size: int) -> list[tuple[str, ...]]:
    """The words in parts of at most `size`, all about equally long; [] for none."""
    count = -(-len(words) // size)
    return [tuple(words[len(words) * part // count : len(words) * (part + 1) // count]) for part in range(count)]


def unique_windows(
    sentences: Sequence[Sequence[str]], size: int
) -> tuple[list[list[tuple[str, ...]]], list[tuple[str, ...]]]:
    """The windows of each sentence, and those that are different: each is a sentence of its own, looked at once."""
    parts = [windows_of(words, size) for words in sentences]
    return parts, list(dict.fromkeys(window for row in parts for window in row))


def shortened(words: Sequence[str], encoder: Encoder) -> list[str]:
    """The words, cut where all their pieces together are more than the encoder reads."""
    for most in (MAX_CHARACTERS, 12, 4):
        short = [word[:most] for word in words]
        # An ASCII character has one piece at most, another three (a Korean syllable): few windows must be counted.
        if sum(len(word) if word.isascii() else 3 * len(word) for word in short) < encoder.max_tokens - 2:
            return short
        if int(encoder.count_tokens([" ".join(short)])[0]) < encoder.max_tokens:
            return short
    return [unicodedata.normalize("NFD", word)[:1] for word in words]  # a piece each, of a Korean syllable too


def same_length(lengths: Any, *, words: int) -> Iterator[list[int]]:
    """Rows of one length at a time, at most `words` words together; length 0 left out."""
    order: list[int] = np.argsort(lengths, kind="stable").tolist()
    for length, run in groupby(order, key=lambda row: int(lengths[row])):
        rows = list(run) if length else []
        size = max(1, words // max(1, length))
        for at in range(0, len(rows), size):
            yield rows[at : at + size]
