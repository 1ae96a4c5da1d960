"""Vectors that the user made elsewhere: a file of sentences, and a NumPy file with a row for each.

Shape key: N sentences, D features.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar, final

import numpy as np
import torch
from numpy.typing import NDArray

from paraform.corpora.lines import lines
from paraform.records import InputError, Origin, require_texts
from paraform.score import signature
from paraform.weights import PathLike, map_array, sha256

ROWS = 4096  # checked at once


@final
@dataclass(frozen=True, eq=False)
class GivenVectors:
    """The vectors of some sentences, and of no other text; make one with `read_vectors`.

    Args:
        name: the vectors' file.
        digest: SHA-256 over both files.
    """

    kind: ClassVar[str] = "vectors of given sentences"
    vector_names: ClassVar[tuple[str, ...]] = ("text",)

    name: str
    digest: str
    _sentences: str
    _rows: Mapping[str, int]
    _vectors_ND: NDArray[np.floating]

    @property
    def device(self) -> torch.device:
        """The CPU: there is nothing to multiply."""
        return torch.device("cpu")

    @property
    def signature(self) -> str:
        """The vectors' file, and the beginning of the digest of both."""
        return signature(vectors=self.name, weights=self.digest[:12])

    def embed(
        self, texts: Sequence[str], name: str = "", *, batch_size: int = 0, seed: int = 0, progress: bool = False
    ) -> NDArray[np.float32]:
        """The row of each text, whose white space may differ from its sentence's; one without any has zeros.

        Raises: InputError for texts that are not among the sentences: how many, and the first of them.
        """
        texts = require_texts(texts)
        rows = [self._rows.get(text, self._rows.get(_spaced(text), -1)) for text in texts]
        known_N = np.array(rows, np.int64)
        absent = [text for text, row in zip(texts, rows, strict=True) if row < 0 and text.strip()]
        if absent:
            raise InputError(
                f"{self._sentences}: lacks {len(set(absent)):,} of {len(set(texts)):,} texts, the first of them"
                f" {absent[0][:80]!r}; expected a sentence and a vector for each"
            )
        out_ND = np.zeros((len(texts), self._vectors_ND.shape[1]), np.float32)
        out_ND[known_N >= 0] = self._vectors_ND[known_N[known_N >= 0]]
        return out_ND


def read_vectors(sentences: PathLike, vectors: PathLike) -> GivenVectors:
    """Vectors of sentences.

    Args:
        sentences: a text file, a sentence a line.
        vectors: a .npy file of floats, [N, D], row i the vector of line i; it is mapped into memory, never unpickled.
    Raises: InputError if it is none, if rows and lines are not as many, a row holds NaN or infinity, a sentence has
        two vectors, or all rows are the same.
    """
    found_ND = map_array(vectors)
    if found_ND.ndim != 2 or found_ND.dtype.kind != "f" or not found_ND.size:
        raise InputError(f"{vectors}: {found_ND.dtype} {list(found_ND.shape)}; expected a .npy file of floats, [N, D]")
    texts = [line.text for line in lines(sentences, blanks=True)]
    if len(texts) != len(found_ND):
        raise InputError(
            f"{vectors}: {len(found_ND):,} rows for the {len(texts):,} lines of {sentences}; expected one each"
        )
    constant = True
    for start in range(0, len(found_ND), ROWS):
        with np.errstate(over="ignore"):  # float64 beyond float32 is infinity, which is told below
            part_ND = np.asarray(found_ND[start : start + ROWS], np.float32)
        if len(bad := np.flatnonzero(~np.isfinite(part_ND).all(axis=1))):
            raise InputError(f"{vectors}: row {start + bad[0] + 1:,} holds NaN or infinity; expected finite float32")
        constant = constant and bool((part_ND == np.asarray(found_ND[0], np.float32)).all())
    rows: dict[str, int] = {}
    for row, text in enumerate(texts):
        first = rows.setdefault(text, row)
        if first != row and not np.array_equal(found_ND[first], found_ND[row]):
            raise Origin(str(sentences), row + 1).error(f"the sentence of line {first + 1:,} with another vector")
    if constant and len(rows) > 1:
        raise InputError(f"{vectors}: all {len(texts):,} rows are the same vector; expected what tells sentences apart")
    for row, text in enumerate(texts):
        rows.setdefault(_spaced(text), row)
    digest = hashlib.sha256(f"{sha256(sentences)} {sha256(vectors)}".encode()).hexdigest()
    return GivenVectors(str(vectors), digest, str(sentences), rows, found_ND)


def _spaced(text: str) -> str:
    """Without white space around it, one space where there was some: readers differ in this."""
    return " ".join(text.split())
