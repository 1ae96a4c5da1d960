"""All pairs of vectors whose cosine reaches a threshold: exact, by tiles of a matrix product, or by an index.

Exact is in two passes where the processor multiplies bytes fast: all cosines in bytes, at the threshold less a bound on
what rounding takes; then those of the pairs that are left, in float32.

Shape key: N vectors, Q rows and C columns of a tile, D features, P pairs.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any, Literal, NamedTuple, TypeAlias, get_args

import numpy as np
import torch
import torch.nn.functional as F
from numpy.typing import NDArray
from torch import Tensor

from paraform.evaluation.content import unit
from paraform.int8 import Int8Matrix, has_int8
from paraform.progress import track
from paraform.records import InputError

Search: TypeAlias = Literal["auto", "exact", "index"]
SEARCHES: tuple[Search, ...] = get_args(Search)

EXACT = 200_000  # vectors up to which "auto" compares each with each: in less time than it takes to encode them
BLOCK = 2**24  # cosines held at once: 64 MiB
ROWS, COLUMNS = 1024, 4096  # of a tile of cosines in bytes, which stays in the processor's cache
SLACK = 1e-6  # more than sums of some hundred products of float32 differ by in practice, in different orders
CHECKED = 2**23  # numbers of the vectors of pairs that are held at once, three times: 96 MiB
DENSE = 32  # cells to one of eight that hold any: above it many hold
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
    tiles = _tiles_of_bytes if has_int8(device) else _tiles
    for reached_QN, row, column in tiles(vectors_ND, threshold, progress):
        near_P2 = true_cells(reached_QN) + torch.tensor([row, column], device=device)
        near_P2 = near_P2[near_P2[:, 1] > near_P2[:, 0]]
        for some_P2 in torch.split(
            near_P2, max(1, CHECKED // vectors_ND.shape[1])
        ):  # the same number, whichever way the pair was found
            cosines_P = cosines_of(vectors_ND, some_P2)
            kept_P = cosines_P >= threshold
            yield some_P2[kept_P].int().cpu().numpy(), cosines_P[kept_P].cpu().numpy()


def cosines_of(units_ND: Tensor, pairs_P2: Tensor) -> Tensor:
    """Of each pair of rows, [P], in float32: whoever asks gets the same."""
    cosines_P: Tensor = (units_ND[pairs_P2[:, 0]] * units_ND[pairs_P2[:, 1]]).sum(1)
    return cosines_P


Tiles: TypeAlias = Iterator[tuple[Tensor, int, int]]  # which cosines may reach the threshold, first row, first column


def _tiles(vectors_ND: Tensor, threshold: float, progress: bool) -> Tiles:
    size = max(1, BLOCK // max(1, len(vectors_ND)))
    for start in track(range(0, len(vectors_ND), size), "comparing", show=progress):
        cosines_QN = vectors_ND[start : start + size] @ vectors_ND[start:].T  # those before have been compared
        yield cosines_QN >= threshold - SLACK, start, start


def _tiles_of_bytes(vectors_ND: Tensor, threshold: float, progress: bool) -> Tiles:
    """No pair is lost: for u = a + e, where a is u in bytes, |u·v − a·b| = |e·v + a·f| ≤ ‖e‖ + (1 + ‖e‖) ‖f‖."""
    if not len(vectors_ND):
        return
    scale = float(vectors_ND.abs().max().clamp_min(SLACK)) / 127
    off, left, right = 0.0, [], []
    for part_CD in torch.split(vectors_ND, COLUMNS):
        rounded_CD = torch.round(part_CD / scale)
        off = max(off, float((part_CD - rounded_CD * scale).norm(dim=1).max()))
        left.append((rounded_CD + 128).to(torch.uint8))
        right.append(Int8Matrix.of(rounded_CD.to(torch.int8), torch.full((len(part_CD),), scale)))
    step = 1 / 255
    least = math.ceil((threshold - off * (2 + off) - SLACK) / step - 0.5)
    if least < 1:  # bytes would hold no pair back
        yield from _tiles(vectors_ND, threshold, progress)
        return
    left_ND = torch.cat(left)
    for row in track(range(0, len(vectors_ND), ROWS), "comparing", show=progress):
        for number in range(row // COLUMNS, len(right)):
            cosines_QC = right[number].product(left_ND[row : row + ROWS], 128, scale, out_dtype=torch.uint8, step=step)
            yield cosines_QC >= least, row, number * COLUMNS


def true_cells(cells_QN: Tensor) -> Tensor:
    """Row and column of each cell that holds, as `nonzero` gives them: [P, 2] int64, by rows.

    That takes longer than the product, so that where few hold it is asked of eight cells at once.
    """
    filled_QN = F.pad(cells_QN, (0, -cells_QN.shape[1] % 8)).contiguous()
    words_W2 = filled_QN.view(torch.int64).nonzero()
    if DENSE * len(words_W2) > cells_QN.numel():
        return cells_QN.nonzero()
    cells_W8 = filled_QN.view(len(filled_QN), filled_QN.shape[1] // 8, 8)[words_W2[:, 0], words_W2[:, 1]]
    within_P2 = cells_W8.nonzero()
    found_P2 = words_W2[within_P2[:, 0]]
    return torch.stack([found_P2[:, 0], found_P2[:, 1] * 8 + within_P2[:, 1]], dim=1)


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
    cells = cells_for(count)
    drawn = np.random.default_rng(seed).permutation(count)[: A_CELL * cells]
    before = faiss.omp_get_max_threads()
    faiss.omp_set_num_threads(torch.get_num_threads())  # by itself it takes all cores
    try:
        index: Any = faiss.IndexIVFFlat(faiss.IndexFlatIP(width), width, cells, faiss.METRIC_INNER_PRODUCT)
        index.cp.seed = seed % 2**31
        index.nprobe = min(cells, PROBED)
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
    finally:
        faiss.omp_set_num_threads(before)


def cells_for(count: int) -> int:
    """How many cells so many vectors are put into."""
    return max(1, min(round(CELLS * math.sqrt(count)), count // A_CELL))
