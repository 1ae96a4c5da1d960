"""Texts as points of a space: what is measured, be it an encoder's vectors or a floor that has none.

Shape key: N texts or pairs, Q queries, P texts of a pool, D features.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol, final, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from paraform.capabilities import Embed
from paraform.evaluation.content import embed_unique, unit
from paraform.evaluation.preparation import same_length
from paraform.records import InputError


class Space(Protocol):
    """How alike texts are, as one system sees it; it knows the texts that it was made of and no others.

    Args:
        name: the system's, as tables print it.
        signature: every setting of the system that changes a figure (`score.signature`).
    """

    @property
    def name(self) -> str: ...
    @property
    def signature(self) -> str: ...

    def similarity(self, lefts: Sequence[str], rights: Sequence[str]) -> NDArray[np.float64]:
        """How alike the texts of each pair are, [N]; of vectors the cosine, 0 where one has no length."""
        ...

    def block(self, queries: Sequence[str], pool: Sequence[str]) -> NDArray[np.float32]:
        """How alike each query is to each text of the pool, [Q, P]."""
        ...


@runtime_checkable
class VectorSpace(Space, Protocol):
    """A space whose texts have coordinates, so that a probe can be trained on them."""

    def vectors(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Their vectors as the system gives them, [N, D], not normalised."""
        ...


@final
@dataclass(frozen=True, eq=False, slots=True)
class Vectors:
    """What an `embed` makes of texts, each different one encoded once; make one with `embedded`."""

    name: str
    signature: str
    _rows: dict[str, int]
    _vectors_ND: NDArray[np.float32]

    def vectors(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Their vectors as the system gives them, [N, D]. Raises: KeyError for a text that is not among its own."""
        return self._vectors_ND[[self._rows[text] for text in texts]]

    def similarity(self, lefts: Sequence[str], rights: Sequence[str]) -> NDArray[np.float64]:
        """The cosine of each pair, [N]; 0 where a vector has no length."""
        same_length(lefts=lefts, rights=rights)
        cosines_N: NDArray[np.float64] = (unit(self.vectors(lefts)) * unit(self.vectors(rights))).sum(1, np.float64)
        return cosines_N

    def block(self, queries: Sequence[str], pool: Sequence[str]) -> NDArray[np.float32]:
        """The cosine of each query and each text of the pool, [Q, P]."""
        cosines_QP: NDArray[np.float32] = unit(self.vectors(queries)) @ unit(self.vectors(pool)).T
        return cosines_QP


def embedded(embed: Embed, texts: Sequence[str], *, name: str, signature: str) -> Vectors:
    """The space of these texts; an empty text has the vector 0.

    Raises: InputError if `embed` does not give one finite vector a text.
    """
    different = list(dict.fromkeys(texts))
    try:
        vectors_ND = embed_unique(embed, different)
    except ValueError as error:
        raise InputError(f"{name}: {error}") from error
    return Vectors(name, signature, {text: row for row, text in enumerate(different)}, vectors_ND)
