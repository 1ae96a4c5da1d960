"""Does the content survive: content matching accuracy, and the content kept from source to output."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from paraform.capabilities import Embed
from paraform.evaluation.preparation import same_length
from paraform.records import InputError

Vectors: TypeAlias = NDArray[np.float32]
BLOCK = 1024  # rows of the similarity matrix held at once


def embed_unique(embed: Embed, texts: Sequence[str]) -> Vectors:
    """Vectors of the texts, [N, D] float32, each different text embedded once; an empty text gets zeros.

    Raises: InputError if `embed` does not give one vector a text, or gives NaN or infinity.
    """
    different = [text for text in dict.fromkeys(texts) if text.strip()]
    known: Vectors = np.zeros((0, 1), dtype=np.float32)
    if different:
        known = finite_vectors(embed, different)
    place = {text: at for at, text in enumerate(different)}
    padded = np.concatenate([known, np.zeros((1, known.shape[1]), np.float32)])
    vectors_ND: Vectors = padded[[place.get(text, -1) for text in texts]]
    return vectors_ND


def finite_vectors(embed: Embed, texts: Sequence[str]) -> Vectors:
    """What `embed` gives for the texts, [N, D] float32.

    Raises: InputError if it does not give one vector a text, or gives NaN or infinity.
    """
    vectors_ND = np.asarray(embed(texts), dtype=np.float32)
    if vectors_ND.ndim != 2 or len(vectors_ND) != len(texts):
        raise InputError(f"embed gave shape {list(vectors_ND.shape)} for {len(texts)} texts; expected [N, D]")
    if not np.isfinite(vectors_ND).all():
        raise InputError("embed gave NaN or infinity; expected finite vectors")
    return vectors_ND


def unit(vectors_ND: Vectors) -> Vectors:
    """Each row divided by its length; zeros stay zeros."""
    # In float64: squares of what is finite may be infinity or nothing in float32.
    lengths_N1 = np.sqrt(np.einsum("nd,nd->n", vectors_ND, vectors_ND, dtype=np.float64))[:, None]
    units_ND: Vectors = np.divide(vectors_ND, lengths_N1, out=np.zeros_like(vectors_ND), where=lengths_N1 > 0)
    return units_ND


def content_kept(sources_ND: Vectors, outputs_ND: Vectors) -> NDArray[np.float64]:
    """Cosine between each source and its output, [N]; 0 where either is empty."""
    same_length(sources=sources_ND, outputs=outputs_ND)
    cosines: NDArray[np.float64] = (unit(sources_ND) * unit(outputs_ND)).sum(axis=1, dtype=np.float64)
    return cosines


def content_matches(
    sources_ND: Vectors,
    targets_ND: Vectors,
    clusters: Sequence[Hashable] | None = None,
    *,
    similarity: Literal["dot", "cosine"] = "dot",
) -> NDArray[np.bool_]:
    """Which sources find their target among all targets; the mean is CMA (paper, section 4.5, eq. 13).

    CMA = (1/m) Σ_i 1(argmax(S_i) = i), S = A Bᵀ, A the content of the sources and B that of the targets.

    Args:
        sources_ND, targets_ND: A and B, [N, D]; row i of one belongs with row i of the other.
        clusters: the cluster of each row; any target of the source's own cluster is right, since a source that stands
            in several rows can point to only one of its targets. None is eq. 13 to the letter: row i's own target, and
            the first of equal targets is the one found.
        similarity: "dot" as in the paper, "cosine" as in the authors' code.
    Returns: [N] booleans.
    """
    rows = same_length(sources=sources_ND, targets=targets_ND)
    found = np.zeros(rows, dtype=np.int64)
    if similarity == "cosine":
        sources_ND, targets_ND = unit(sources_ND), unit(targets_ND)
    for start in range(0, rows, BLOCK):
        found[start : start + BLOCK] = (sources_ND[start : start + BLOCK] @ targets_ND.T).argmax(axis=1)
    if clusters is None:
        right: NDArray[np.bool_] = found == np.arange(rows)
        return right
    return np.array([clusters[row] == clusters[at] for row, at in enumerate(found.tolist())], dtype=np.bool_)
