"""Texts as points of a space: what is measured, be it an encoder's vectors or a floor that has words alone.

Shape key: N texts or pairs, Q queries, P texts of a pool, D features, V words, W the commonest of them.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, TypeAlias, final, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from paraform.capabilities import Embed
from paraform.evaluation.content import embed_unique, unit
from paraform.evaluation.preparation import metric_words, require, same_length
from paraform.records import InputError
from paraform.score import signature


class PairSpace(Protocol):
    """How alike two texts are, as one system sees it.

    Args:
        name: the system's, as tables print it.
        signature: every setting of the system that changes a metric (`score.signature`).
    """

    @property
    def name(self) -> str: ...
    @property
    def signature(self) -> str: ...

    def similarity(self, lefts: Sequence[str], rights: Sequence[str]) -> NDArray[np.float64]:
        """How alike the texts of each pair are, [N]; of vectors the cosine, 0 where one has no length."""
        ...


class Space(PairSpace, Protocol):
    """How alike texts are to one another, too; it knows the texts that it was made of and no others."""

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
class Judged:
    """What a judge of meaning thinks of pairs, which it reads together: it has no vectors.

    Args:
        judge: pairs → how likely each says the same, [N].
    """

    name: str
    signature: str
    judge: Callable[[Sequence[tuple[str, str]]], NDArray[np.float32]]

    def similarity(self, lefts: Sequence[str], rights: Sequence[str]) -> NDArray[np.float64]:
        """How likely each pair says the same, [N]; 0 where a text is empty."""
        same_length(lefts=lefts, rights=rights)
        asked = dict.fromkeys(pair for pair in zip(lefts, rights, strict=True) if pair[0].strip() and pair[1].strip())
        known = dict(zip(asked, self.judge(list(asked)), strict=True))
        return np.array([known.get(pair, 0.0) for pair in zip(lefts, rights, strict=True)], np.float64)


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


Sparse: TypeAlias = Any
"""A scipy.sparse.csr_array, [N, V]."""

COMMONEST = 2048  # words that the vectors of TF-IDF have a coordinate for, those of most texts


class NoWords(InputError):
    """No text has a word, so that there is nothing to compare by."""


@final
@dataclass(frozen=True, eq=False, slots=True)
class SharedWords:
    """The share of two texts' words that both have; make one with `shared_words`. It has no vectors."""

    name: str
    signature: str
    _rows: dict[str, int]
    _has_NV: Sparse

    def similarity(self, lefts: Sequence[str], rights: Sequence[str]) -> NDArray[np.float64]:
        """|a ∩ b| / |a ∪ b| of each pair (Jaccard), [N]; 0 where neither has a word. Raises: KeyError as of vectors."""
        same_length(lefts=lefts, rights=rights)
        left_NV, right_NV = self._of(lefts), self._of(rights)
        shared_N = np.asarray(left_NV.multiply(right_NV).sum(axis=1), dtype=np.float64)
        return _share(shared_N, left_NV.sum(axis=1) + right_NV.sum(axis=1) - shared_N)

    def block(self, queries: Sequence[str], pool: Sequence[str]) -> NDArray[np.float32]:
        """The same of each query and each text of the pool, [Q, P]."""
        query_QV, pool_PV = self._of(queries), self._of(pool)
        shared_QP = np.asarray((query_QV @ pool_PV.T).toarray(), dtype=np.float64)
        both_QP = query_QV.sum(axis=1)[:, None] + pool_PV.sum(axis=1)[None] - shared_QP
        return _share(shared_QP, both_QP).astype(np.float32)

    def _of(self, texts: Sequence[str]) -> Sparse:
        return self._has_NV[[self._rows[text] for text in texts]]


@final
@dataclass(frozen=True, eq=False, slots=True)
class TfIdf:
    """Word counts, the rarer the word the heavier; make one with `tf_idf`."""

    name: str
    signature: str
    _rows: dict[str, int]
    _weights_NV: Sparse
    _commonest_W: NDArray[np.int64]

    def similarity(self, lefts: Sequence[str], rights: Sequence[str]) -> NDArray[np.float64]:
        """The cosine over all words of each pair, [N]; 0 where a text has none. Raises: KeyError as of vectors."""
        same_length(lefts=lefts, rights=rights)
        return np.asarray(self._of(lefts).multiply(self._of(rights)).sum(axis=1, dtype=np.float64))

    def block(self, queries: Sequence[str], pool: Sequence[str]) -> NDArray[np.float32]:
        """The same of each query and each text of the pool, [Q, P]."""
        return np.asarray((self._of(queries) @ self._of(pool).T).toarray(), dtype=np.float32)

    def vectors(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """The weights of the words that most texts have, [N, W]: those of all would not fit into memory."""
        return np.asarray(self._of(texts)[:, self._commonest_W].toarray(), dtype=np.float32)

    def _of(self, texts: Sequence[str]) -> Sparse:
        return self._weights_NV[[self._rows[text] for text in texts]]


def floors(texts: Sequence[str]) -> list[Space]:
    """The spaces of these texts that every table prints beside an encoder's; without words less, and a warning."""
    spaces: list[Space] = []
    for make in (shared_words, tf_idf):
        try:
            spaces.append(make(texts))
        except NoWords as error:
            logging.getLogger("paraform").warning("%s; this floor is left out", error)
    return spaces


def shared_words(texts: Sequence[str]) -> SharedWords:
    """The space of these texts whose similarity is Jaccard's over lower-cased Penn Treebank words.

    Raises: InputError if scipy, of the extra `eval`, is not installed; NoWords if no text has a word.
    """
    sparse = require("scipy.sparse", "shared words")
    different = list(dict.fromkeys(texts))
    numbers: dict[str, int] = {}
    columns = [[numbers.setdefault(w, len(numbers)) for w in set(words)] for words in metric_words(different, None)]
    if not numbers:
        raise NoWords(f"shared words: none of {len(different):,} texts has a word; expected some")
    ends = np.cumsum([0, *map(len, columns)])
    flat = np.fromiter((number for row in columns for number in row), np.int64, count=int(ends[-1]))
    has_NV = sparse.csr_array((np.ones(len(flat), np.float32), flat, ends), shape=(len(different), len(numbers)))
    settings = signature(similarity="jaccard", words="penn-treebank", case="lc")
    return SharedWords("shared words", settings, {text: row for row, text in enumerate(different)}, has_NV)


def tf_idf(texts: Sequence[str]) -> TfIdf:
    """The space of these texts by scikit-learn's `TfidfVectorizer` as it comes, fitted on them, each once.

    By way of the words' frequencies a metric depends a little on the texts of the call; the signature has their number.

    Raises: InputError if scikit-learn, of the extra `eval`, is not installed; NoWords if no text has a word.
    """
    sparse = require("scipy.sparse", "TF-IDF")
    text_features = require("sklearn.feature_extraction.text", "TF-IDF")
    different = list(dict.fromkeys(texts))
    try:
        weights_NV = sparse.csr_array(text_features.TfidfVectorizer(dtype=np.float32).fit_transform(different))
    except ValueError as error:  # scikit-learn's "empty vocabulary"
        raise NoWords(f"TF-IDF: none of {len(different):,} texts has a word of two letters; expected some") from error
    frequencies_V = np.bincount(weights_NV.indices, minlength=weights_NV.shape[1])
    commonest_W = np.argsort(-frequencies_V, kind="stable")[:COMMONEST]
    settings = signature(
        similarity="cosine", words="two letters or more", case="lc", fitted=len(different), vectors=len(commonest_W)
    )
    rows = {text: row for row, text in enumerate(different)}
    return TfIdf("TF-IDF", settings, rows, weights_NV, commonest_W)


def _share(part: NDArray[np.float64], whole: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.divide(part, whole, out=np.zeros_like(part), where=whole > 0)
