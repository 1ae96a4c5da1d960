"""The rows by how much there is to reword: thirds of source–target overlap."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from paraform.evaluation.preparation import same_length

THIRDS = ("least overlap", "middle overlap", "most overlap")
SETTING = "rank of source–reference word F1, ties in row order"


def word_f1(first: Sequence[str], second: Sequence[str]) -> float:
    """2 |a ∩ b| / (|a| + |b|) of the words as multisets, 0 to 1; 0 where both are empty."""
    shared = (Counter(first) & Counter(second)).total()
    return 2 * shared / (len(first) + len(second)) if shared else 0.0


def subsets(sources: Sequence[Sequence[str]], references: Sequence[Sequence[str]]) -> dict[str, NDArray[np.int64]]:
    """The row numbers of "all" and of each third of source–reference overlap; copying the source wins in the last.

    Thirds are by rank, ties in row order, so they part the rows exactly and differ by at most one row in size; of one
    or two rows there are as many "thirds".
    """
    same_length(sources=sources, references=references)
    overlaps = np.array([word_f1(source, reference) for source, reference in zip(sources, references, strict=True)])
    ranked = np.array_split(np.argsort(overlaps, kind="stable"), len(THIRDS))
    parts = {"all": np.arange(len(overlaps), dtype=np.int64)}
    parts |= {name: np.sort(chosen) for name, chosen in zip(THIRDS, ranked, strict=True) if len(chosen)}
    return parts
