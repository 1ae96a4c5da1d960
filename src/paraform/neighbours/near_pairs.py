"""All pairs of vectors whose cosine reaches a threshold: exact, by blocks of a matrix product, or by an index.

Shape key: N vectors, Q rows of a block, D features, P pairs.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Literal, NamedTuple, TypeAlias, get_args

import numpy as np
import torch
from numpy.typing import NDArray

from paraform.evaluation.content import unit
from paraform.progress import track
from paraform.records import InputError

Search: TypeAlias = Literal["auto", "exact", "index"]
SEARCHES: tuple[Search, ...] = get_args(Search)

EXACT = 200_000  # vectors up to which "auto" compares each with each: as long as it takes to encode them, or less
BLOCK = 2**24  # cosines held at once: 64 MiB
MOST_PAIRS = 20_000_000  # 320 MB of them; who wants more wants a higher threshold
QUERIES = 16_384  # vectors whose neighbours an index looks for between two steps of a progress bar
# Cells of an index, times √N, and how many of them each vector is compared in: of 275,292 pairs of 100,000 questions
# 8 find 99.94 %, 16 find 99.99 % (docs/duplicates.md).
CELLS, PROBED = 4, 8
A_CELL = 40  # vectors that a cell is trained on: with fewer faiss complains, more change little


class NearPairs(NamedTuple):
    """Pairs, nearest first.

    Args:
        rows: [P, 2] int32, numbers of vectors, the lower first.
        cosines: [P] float32.
        search: how they were found, "exact" or "index".
    """

    rows: NDArray[np.int32]
    cosines: NDArray[np.float32]
    search: Literal["exact", "index"]


def near_pairs(
    vectors_ND: NDArray[np.float32],
    threshold: float,
    *,
    search: Search = "auto",
    seed: int = 0,
    device: torch.device | None = None,
    progress: bool = False,
) -> NearPairs:
    """The pairs whose cosine is `threshold` or more; a vector without length is near to none.

    Args:
        vectors_ND: [N, D], finite; not written to.
        threshold: above 0, at most 1.
        search: "exact" finds all in N²/2 products; "index" nearly all of them in far fewer, by faiss (extra `search`):
            vectors are put into √N cells or more, and each is compared with those of the cells that are nearest to it;
            "auto" is exact up to `EXACT` vectors.
        seed: of the vectors that the index's cells are made of.
        device: where products are computed; None: the CPU.
        progress: say on stderr how far it is.
    Raises: InputError for another search, a threshold that is none, more than `MOST_PAIRS` pairs, or if an index is
        wanted and faiss is not installed.
    """
    if search not in SEARCHES:
        raise InputError(f"search {str(search)[:40]!r}; expected {', '.join(SEARCHES)}")
    require_threshold(threshold)
    chosen: Literal["exact", "index"] = "exact" if search == "exact" else "index"
    if search == "auto" and len(vectors_ND) <= EXACT:
        chosen = "exact"
    units_ND = np.ascontiguousarray(unit(vectors_ND))
    if chosen == "exact":
        parts = _exact(units_ND, threshold, device or torch.device("cpu"), progress)
    else:
        parts = _by_index(units_ND, threshold, seed, progress)
    rows: list[NDArray[np.int32]] = [np.zeros((0, 2), np.int32)]
    cosines: list[NDArray[np.float32]] = [np.zeros(0, np.float32)]
    found = 0
    for some_P2, some_P in parts:
        found += len(some_P)
        if found > MOST_PAIRS:
            raise InputError(
                f"over {MOST_PAIRS:,} pairs have a cosine of {threshold:g} or more; expected a higher threshold"
            )
        rows.append(some_P2)
        cosines.append(some_P)
    rows_P2, cosines_P = np.concatenate(rows), np.concatenate(cosines)
    if chosen == "index":
        keys_P = rows_P2[:, 0].astype(np.int64) * len(vectors_ND) + rows_P2[:, 1]
        _, once = np.unique(keys_P, return_index=True)
        rows_P2, cosines_P = rows_P2[once], cosines_P[once]
    order = np.lexsort((rows_P2[:, 1], rows_P2[:, 0], -cosines_P))
    return NearPairs(rows_P2[order], cosines_P[order], chosen)


def require_threshold(threshold: float) -> None:
    """Raises: InputError if it is no cosine above 0."""
    if isinstance(threshold, bool) or not isinstance(threshold, (int, float)) or not 0 < threshold <= 1:
        raise InputError(f"threshold {str(threshold)[:40]}; expected a cosine above 0, at most 1")


Parts: TypeAlias = Iterator[tuple[NDArray[np.int32], NDArray[np.float32]]]


def _exact(units_ND: NDArray[np.float32], threshold: float, device: torch.device, progress: bool) -> Parts:
    vectors_ND = torch.from_numpy(units_ND).to(device)
    size = max(1, BLOCK // max(1, len(units_ND)))
    starts = range(0, len(units_ND), size)
    for start in track(starts, "comparing", show=progress):
        cosines_QN = vectors_ND[start : start + size] @ vectors_ND[start:].T  # those before have been compared
        near_P2 = torch.nonzero(cosines_QN >= threshold)
        near_P2 = near_P2[near_P2[:, 1] > near_P2[:, 0]]
        cosines_P = cosines_QN[near_P2[:, 0], near_P2[:, 1]]
        yield (near_P2 + start).int().cpu().numpy(), cosines_P.cpu().numpy()


def _by_index(units_ND: NDArray[np.float32], threshold: float, seed: int, progress: bool) -> Parts:
    """By an inverted file (Jégou, Douze and Schmid 2011, without quantisation): k-means cells, the nearest searched."""
    try:
        import faiss
    except ImportError as error:
        raise InputError(
            "an index needs faiss; pip install 'paraform[search]', or compare all: search='exact' (--search exact)"
        ) from error
    count, width = units_ND.shape
    if not count:
        return
    cells = max(1, min(round(CELLS * count**0.5), count // A_CELL))
    quantizer = faiss.IndexFlatIP(width)
    index: Any = faiss.IndexIVFFlat(quantizer, width, cells, faiss.METRIC_INNER_PRODUCT)
    index.cp.seed = seed % 2**31
    index.nprobe = min(cells, PROBED)
    drawn = np.random.default_rng(seed).permutation(count)[: A_CELL * cells]
    index.cp.min_points_per_centroid = 1  # of fewer than a cell's it complains on stderr
    index.train(units_ND[drawn])
    index.add(units_ND)
    starts = range(0, count, QUERIES)
    for start in track(starts, "searching", show=progress):
        ends_Q, cosines_P, others_P = index.range_search(units_ND[start : start + QUERIES], threshold)
        rows_P = np.repeat(np.arange(start, start + len(ends_Q) - 1), np.diff(ends_Q.astype(np.int64)))
        apart = rows_P != others_P
        rows_P, others_P, cosines_P = rows_P[apart], others_P[apart], cosines_P[apart]
        # A pair may be found from either side, or from one alone: the cells of the two need not be each other's.
        yield np.stack([np.minimum(rows_P, others_P), np.maximum(rows_P, others_P)], 1).astype(np.int32), cosines_P
