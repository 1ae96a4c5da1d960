"""Near pairs against brute force; an index finds no pair that is none."""

from __future__ import annotations

import sys

import numpy as np
import pytest
import torch

from paraform.int8 import has_int8
from paraform.neighbours.near_pairs import near_pairs, true_cells
from paraform.records import InputError
from paraform.threads import in_threads


def vectors(count: int, seed: int = 0) -> np.ndarray:
    """Vectors around a fifth as many centres, of different lengths."""
    generator = np.random.default_rng(seed)
    centres = generator.normal(size=(count // 5, 8))
    near = centres[generator.integers(len(centres), size=count)] + 0.3 * generator.normal(size=(count, 8))
    return (near * generator.uniform(0.1, 10, size=(count, 1))).astype(np.float32)


def brute_force(vectors_ND: np.ndarray, threshold: float) -> dict[tuple[int, int], float]:
    units = vectors_ND.astype(np.float64) / np.linalg.norm(vectors_ND.astype(np.float64), axis=1, keepdims=True)
    cosines = units @ units.T
    rows = range(len(units))
    return {(i, j): cosines[i, j] for i in rows for j in rows if i < j and cosines[i, j] >= threshold}


@pytest.mark.parametrize("block", [1, 333, 2**24])
def test_exact_is_brute_force_nearest_first(block: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("paraform.neighbours.near_pairs.BLOCK", block)
    given = vectors(120)
    before = given.copy()
    found = near_pairs(given, 0.85)
    expected = brute_force(given, 0.85)
    assert {tuple(pair) for pair in found.rows.tolist()} == expected.keys()
    assert found.cosines == pytest.approx([expected[i, j] for i, j in found.rows.tolist()], abs=1e-5)
    assert (np.diff(found.cosines) <= 0).all() and found.search == "exact"
    assert np.array_equal(given, before)


@pytest.mark.parametrize("outlier", [1.0, 40.0])
@pytest.mark.parametrize("threshold", [0.02, 0.5, 0.85, 0.999])
def test_bytes_first_lose_no_pair(threshold: float, outlier: float, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nor find one more; with a feature that all others are rounded away beside, too."""
    if not has_int8(torch.device("cpu")):
        pytest.skip("this processor has no VNNI")
    monkeypatch.setattr("paraform.neighbours.near_pairs.ROWS", 64)
    monkeypatch.setattr("paraform.neighbours.near_pairs.COLUMNS", 100)
    given = np.concatenate([vectors(400), vectors(400)[:20] + np.float32(0.002)])
    given[::7, 0] *= outlier
    found = near_pairs(given, threshold)
    monkeypatch.setattr("paraform.neighbours.near_pairs.has_int8", lambda device: False)
    expected = near_pairs(given, threshold)
    assert len(expected.rows) and np.array_equal(found.rows, expected.rows)
    assert np.array_equal(found.cosines, expected.cosines)


@pytest.mark.parametrize("shape", [(0, 5), (1, 1), (4, 8), (5, 13), (70, 64), (50, 101)])
def test_cells_that_hold(shape: tuple[int, int]) -> None:
    for share in (0.01, 0.9):
        cells = torch.rand(shape, generator=torch.Generator().manual_seed(0)) < share
        assert torch.equal(true_cells(cells), cells.nonzero())


def test_an_index_finds_most_pairs_and_none_that_is_none(monkeypatch: pytest.MonkeyPatch) -> None:
    given = vectors(3000)
    exact = near_pairs(given, 0.9)
    every = {tuple(pair) for pair in exact.rows.tolist()}
    found = near_pairs(given, 0.9, search="index")
    some = [tuple(pair) for pair in found.rows.tolist()]
    assert found.search == "index" and len(set(some)) == len(some)
    assert set(some) <= every and len(some) > 0.9 * len(every)
    assert (np.diff(found.cosines) <= 0).all()
    again = near_pairs(given, 0.9, search="index")
    assert np.array_equal(found.rows, again.rows)
    monkeypatch.setattr("paraform.neighbours.near_pairs.PROBED", 3000)  # all cells: nothing is left to miss
    assert {tuple(pair) for pair in near_pairs(given, 0.9, search="index").rows.tolist()} == every


def test_an_index_of_a_few_says_nothing(capfd: pytest.CaptureFixture[str]) -> None:
    """faiss warns by itself, on stderr, of cells that few vectors train."""
    assert near_pairs(vectors(10), 0.9, search="index").search == "index"
    assert capfd.readouterr() == ("", "")


def test_an_index_takes_as_many_threads_as_torch(monkeypatch: pytest.MonkeyPatch) -> None:
    import faiss

    before, asked, ask = faiss.omp_get_max_threads(), list[int](), faiss.omp_set_num_threads
    monkeypatch.setattr(faiss, "omp_set_num_threads", lambda number: (asked.append(number), ask(number)))
    with in_threads(3):
        near_pairs(vectors(10), 0.9, search="index")
    assert asked[0] == 3 and len(asked) == 2
    assert faiss.omp_get_max_threads() == before  # which may be torch's own number, where both have one OpenMP


def test_auto_takes_an_index_for_many(monkeypatch: pytest.MonkeyPatch) -> None:
    given = vectors(100)
    assert near_pairs(given, 0.9).search == "exact"
    monkeypatch.setattr("paraform.neighbours.near_pairs.EXACT", 99)
    assert near_pairs(given, 0.9).search == "index"
    monkeypatch.setitem(sys.modules, "faiss", None)
    with pytest.raises(InputError, match=r"pip install 'paraform\[search\]', or compare all"):
        near_pairs(given, 0.9)


@pytest.mark.parametrize("search", ["exact", "index"])
def test_few_vectors_and_vectors_without_length(search: str) -> None:
    for count in (0, 1):
        assert near_pairs(np.ones((count, 3), np.float32), 0.5, search=search).rows.shape == (0, 2)
    given = np.array([[1, 0], [0, 0], [2, 0], [0, 0]], np.float32)
    assert near_pairs(given, 0.5, search=search).rows.tolist() == [[0, 2]]


def test_what_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    for threshold in (0.0, -0.5, 1.01, float("nan"), True, "0.8"):
        with pytest.raises(InputError, match="expected a cosine above 0, at most 1"):
            near_pairs(vectors(10), threshold)  # type: ignore[arg-type]
    with pytest.raises(InputError, match="search 'hnsw'; expected auto, exact, index"):
        near_pairs(vectors(10), 0.5, search="hnsw")  # type: ignore[arg-type]
    monkeypatch.setattr("paraform.neighbours.near_pairs.MOST_PAIRS", 3)
    with pytest.raises(InputError, match=r"over 3 pairs have a cosine of 0\.1 or more; expected a higher threshold"):
        near_pairs(np.ones((4, 2), np.float32), 0.1)
