"""Vectors of words by themselves: those of a text file, or an encoder's of each word alone.

Shape key: D features of a word.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import TypeAlias, final

import numpy as np
import numpy.typing as npt

from paraform import encoders
from paraform.encoders.encoder_facts import EncoderFacts
from paraform.encoders.word_vectors import SUFFIXES, WordVectors
from paraform.records import InputError

Vector: TypeAlias = npt.NDArray[np.float32]

KEPT = 100_000  # words whose vectors are kept from one call to the next


@final
class WordSource:
    """Frozen vectors of words.

    Args:
        name: a GloVe or word2vec text file, or an encoder's name, as `load` takes it.
        scale: factor on each.
    Raises: InputError if it is neither, or cannot be read.
    """

    def __init__(self, name: str, scale: float = 1.0) -> None:
        plain, variant = encoders.parse_name(name)
        if Path(plain).suffix in SUFFIXES and not Path(plain).is_file():
            raise InputError(f"{plain}: no such file; expected a GloVe or word2vec text file, or an encoder's name")
        found = encoders.load_embedder(plain, variant=variant)
        if not isinstance(found, (WordVectors, encoders.Encoder)):
            raise InputError(f"{name}: {found.kind}; expected a text file of word vectors, or an encoder")
        self._found, self._scale = found, scale
        self._known: dict[str, Vector | None] = {}

    @property
    def facts(self) -> EncoderFacts:
        """Width and digests, which a checkpoint keeps."""
        if isinstance(self._found, WordVectors):
            return EncoderFacts(self._found.dimension, 1, self._found.digest, "")
        return EncoderFacts.of(self._found)

    def vectors(self, words: Iterable[str]) -> dict[str, Vector]:
        """Those of the words that have one, [D] each."""
        if len(self._known) > KEPT:
            self._known.clear()
        words = list(dict.fromkeys(words))
        if new := [word for word in words if word not in self._known]:
            own = self._found.words(new) if isinstance(self._found, WordVectors) else self._found.encode(new)
            for word, vector_D in zip(new, own, strict=True):
                self._known[word] = None if vector_D is None else vector_D * np.float32(self._scale)
        return {word: vector_D for word in words if (vector_D := self._known[word]) is not None}
