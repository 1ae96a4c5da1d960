"""Pairs of vectors on disk against those in memory, and an index's against its own cells by brute force."""

from __future__ import annotations

import functools
import hashlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from paraform.engines import Engine
from paraform.neighbours import cells, near_on_disk, near_pairs, pieces
from paraform.neighbours.near_on_disk import Near, near_pairs_on_disk
from paraform.neighbours.pieces import PAIR, Bytes, Vectors, mapped, may_be_near, piece
from paraform.records import InputError
from paraform.weights import write_rows

SIZE = 256


@pytest.fixture(autouse=True)
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    """Many pieces of few rows."""
    monkeypatch.setattr(near_on_disk, "EXACT_ROWS", 500)
    monkeypatch.setattr(near_on_disk, "BUCKET", 300)
    monkeypatch.setattr(near_on_disk, "PART", 700)


def vectors(count: int, seed: int = 0) -> np.ndarray:
    """Vectors around a fifth as many centres, of different lengths."""
    generator = np.random.default_rng(seed)
    centres = generator.normal(size=(count // 5, 8))
    near = centres[generator.integers(len(centres), size=count)] + 0.3 * generator.normal(size=(count, 8))
    return (near * generator.uniform(0.1, 10, size=(count, 1))).astype(np.float32)


def written(given: np.ndarray, folder: Path, of: str = "these") -> Vectors:
    """Shards of the vectors."""
    folder.mkdir(parents=True)
    for first in range(0, len(given), SIZE):
        np.save(folder / f"{first // SIZE:06d}.npy", given[first : first + SIZE])
    return Vectors(str(folder), len(given), SIZE, given.shape[1], of)


def all_of(near: Near) -> np.ndarray:
    """The pairs of all pieces, nearest first."""
    found = np.concatenate([mapped(piece(near.folder, number), PAIR) for number in range(len(near.counts))])
    return found[np.lexsort((found["other"], found["one"], -found["cosine"]))]


def rows_of(found: np.ndarray) -> list[list[int]]:
    return np.stack([found["one"], found["other"]], 1).tolist()


def files(folder: Path) -> dict[str, str]:
    """The digest of each file below the folder."""
    return {
        str(path.relative_to(folder)): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


@pytest.mark.parametrize("has_vnni", [True, False])
@pytest.mark.parametrize("search", ["exact", "index"])
def test_pairs_are_those_in_memory(
    search: str, has_vnni: bool, tmp_path: Path, inline: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """To the last bit of a cosine: of all cells, nothing is left for an index to miss."""
    if not has_vnni:
        monkeypatch.setattr(pieces, "has_int8", lambda device: False)
    monkeypatch.setattr(near_on_disk, "PROBED", 3000)
    given = vectors(3000)
    given[[5, 900]] = 0
    near = near_pairs_on_disk(written(given, tmp_path / "v"), tmp_path / "out", 0.9, search=search)  # type: ignore[arg-type]
    found, expected = all_of(near), near_pairs.near_pairs(given, 0.9, search="exact")
    assert len(found) > 5000 and len(near.counts) >= 6
    assert rows_of(found) == expected.rows.tolist() and np.array_equal(found["cosine"], expected.cosines)


@pytest.mark.parametrize("block", [37, 100_000])
def test_an_index_finds_what_its_cells_say(
    block: int, tmp_path: Path, inline: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A pair if one's cell is among the nearest of the other: those of 4, here, so that some are missed."""
    monkeypatch.setattr(near_on_disk, "PROBED", 4)
    monkeypatch.setattr(cells, "BLOCK", block)  # a bucket is larger, or not
    monkeypatch.setattr(pieces, "CANDIDATES", 100)
    given = vectors(2000)
    near = near_pairs_on_disk(written(given, tmp_path / "v"), tmp_path / "out", 0.8, search="index")
    units = given / np.linalg.norm(given, axis=1, keepdims=True)
    nearest = np.argsort(-(units @ np.load(tmp_path / "out" / "cells" / "cells.npy").T), axis=1)[:, :4]
    exact = near_pairs.near_pairs(given, 0.8, search="exact").rows
    one, other = exact.T
    met = (nearest[one, :1] == nearest[other]).any(1) | (nearest[other, :1] == nearest[one]).any(1)
    assert sorted(rows_of(all_of(near))) == sorted(exact[met].tolist())
    assert 0 < (~met).sum() < 0.2 * len(exact)


@pytest.mark.parametrize("threshold", [0.02, 0.5, 0.999])
def test_bytes_lose_no_pair(threshold: float, monkeypatch: pytest.MonkeyPatch) -> None:
    """Those that are not looked at again are below the threshold; with a feature beyond all others, too."""
    monkeypatch.setattr(pieces, "ROWS", 17)
    monkeypatch.setattr(pieces, "COLUMNS", 23)
    given = np.concatenate([vectors(60), vectors(60)[:20] + np.float32(0.002)])
    given[::7, 0] *= 40
    units = (given / np.linalg.norm(given, axis=1, keepdims=True)).astype(np.float32)
    some = list(may_be_near(Bytes.of(units[:50]), Bytes.of(units[50:]), threshold))
    looked_at = {pair for rows in some for pair in zip(*(side.tolist() for side in rows), strict=True)}
    near = {tuple(pair) for pair in np.argwhere(units[:50] @ units[50:].T >= threshold).tolist()}
    assert near and near <= looked_at
    assert threshold < 0.1 or len(looked_at) < 50 * 30


@pytest.mark.parametrize("search", ["exact", "index"])
def test_what_is_there_is_left_and_what_is_not_is_made_again(
    search: Any, tmp_path: Path, inline: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    shards = written(vectors(2000), tmp_path / "v")
    find = functools.partial(near_pairs_on_disk, shards, tmp_path / "out", 0.9, search=search)
    find()
    before = files(tmp_path)
    for path in (tmp_path / "out").rglob("*.npy"):
        if int(hashlib.sha256(path.name.encode()).hexdigest(), 16) % 2:
            path.unlink()
    assert files(tmp_path) != before
    find()
    assert files(tmp_path) == before
    for module in (near_on_disk, cells):
        monkeypatch.setattr(module, "runs_of", lambda *_: pytest.fail("it was there"))
    find()


def test_the_same_bytes_whatever_the_engine(tmp_path: Path) -> None:
    pytest.importorskip("ray")
    from paraform.engines.ray import connected

    shards = written(vectors(2000), tmp_path / "v")

    def made(engine: Engine) -> Iterator[dict[str, str]]:
        for search in ("exact", "index"):
            folder = tmp_path / f"{engine.name}{engine.workers}{search}"
            near_pairs_on_disk(shards, folder, 0.9, search=search, engine=engine)  # type: ignore[arg-type]
            yield files(folder)

    one = list(made(Engine("local", 1)))
    assert len(one[1]) > 15 and list(made(Engine("local", 2))) == one
    with connected("local", 2):
        assert list(made(Engine("ray", 2))) == one


def test_few_vectors(tmp_path: Path, inline: None) -> None:
    for count in (0, 1, 2):
        shards = written(np.ones((count, 3), np.float32), tmp_path / f"{count}")
        for search in ("exact", "index"):
            near = near_pairs_on_disk(shards, tmp_path / f"out {count} {search}", 0.5, search=search)  # type: ignore[arg-type]
            assert sum(near.counts) == max(0, count - 1)


@pytest.mark.parametrize("search", ["exact", "index"])
def test_many_pairs_of_one_group_are_written_in_runs(
    search: Any, tmp_path: Path, inline: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """All of 400 vectors that are nearly the same: each run is sorted by itself, and no larger than it may be."""
    monkeypatch.setattr(near_on_disk, "PROBED", 10)  # all
    monkeypatch.setattr(pieces, "RUN", 1000)
    monkeypatch.setattr(pieces, "CANDIDATES", 700)
    monkeypatch.setattr(pieces, "TAKEN", 300)
    sizes: list[list[int]] = []

    def write(path: Path, runs: Iterator[np.ndarray], dtype: Any) -> None:
        kept = list(runs)
        sizes.append([*map(len, kept)])
        write_rows(path, kept, dtype)

    for module in (near_on_disk, cells):
        monkeypatch.setattr(module, "write_rows", write)
    given = (1 + np.random.default_rng(0).normal(scale=0.01, size=(400, 8))).astype(np.float32)
    near = near_pairs_on_disk(written(given, tmp_path / "v"), tmp_path / "out", 0.9, search=search)
    assert rows_of(all_of(near)) == near_pairs.near_pairs(given, 0.9).rows.tolist() and sum(near.counts) == 79_800
    assert [sum(some) for some in sizes] == near.counts and {*sizes[0][:-1]} == {1000} and sizes[0][-1] < 1000
    found = mapped(piece(near.folder, 0), PAIR)["cosine"]
    assert all((np.diff(found[first : first + 1000]) <= 0).all() for first in range(0, len(found), 1000))


def test_of_wider_vectors_fewer_are_held(tmp_path: Path, inline: None) -> None:
    """A block of as many bytes, whatever their width."""
    given = np.random.default_rng(0).normal(size=(600, 4 * 384)).astype(np.float32)
    near = near_pairs_on_disk(written(given, tmp_path / "v"), tmp_path / "out", 0.5, search="exact")
    assert len(near.counts) == 5  # of 125, not 500
    near_pairs_on_disk(written(given, tmp_path / "w"), tmp_path / "out", 0.5, search="index")
    assert len(list((tmp_path / "out" / "cells").glob("starts-*"))) == 4  # of 175, not 700
    assert pieces.rows_for(100, 384) == pieces.rows_for(100, 8) == 100 and pieces.rows_for(100, 768) == 50


def test_what_is_refused(tmp_path: Path, inline: None, monkeypatch: pytest.MonkeyPatch) -> None:
    given = vectors(300)
    shards, out = written(given, tmp_path / "v"), tmp_path / "out"
    with pytest.raises(InputError, match=r"threshold 1\.5; expected a cosine"):
        near_pairs_on_disk(shards, out, 1.5)
    near = near_pairs_on_disk(shards, tmp_path / "o", 0.9, search="index")
    with pytest.raises(
        InputError, match=r"cells: .*another job's shards \(vectors 'these', and this job's is 'those'\)"
    ):
        near_pairs_on_disk(shards._replace(of="those"), tmp_path / "o", 0.9, search="index")
    near = near_pairs_on_disk(shards, tmp_path / "o", 0.9)
    np.save(piece(near.folder, 0), np.zeros(3))
    with pytest.raises(InputError, match=r"000000.npy: float64 \[3\]; expected what was written there; remove it"):
        near_pairs_on_disk(shards, tmp_path / "o", 0.9)
    piece(near.folder, 0).write_bytes(b"")
    with pytest.raises(InputError, match=r"000000.npy: .*expected a .npy file of numbers"):
        near_pairs_on_disk(shards, tmp_path / "o", 0.9)
    given[7, 3] = np.nan
    with pytest.raises(InputError, match=r"000000.npy: NaN or infinity; expected finite vectors"):
        near_pairs_on_disk(written(given, tmp_path / "w"), tmp_path / "p", 0.9)


@pytest.mark.parametrize("where", ["a piece", "all of them"])
def test_too_many_pairs_are_refused_with_a_text_that_has_them(
    where: str, tmp_path: Path, inline: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A group of 40, whose first is vector 7: of the corpus's texts the 107th, from 0. Nothing is left of the piece."""
    given = np.random.default_rng(0).normal(size=(300, 64)).astype(np.float32)
    given[7::7] = given[7]
    np.save(tmp_path / "names.npy", np.arange(100, 400, dtype=np.int32))
    shards = written(given, tmp_path / "v")._replace(names=str(tmp_path / "names.npy"))
    monkeypatch.setattr(pieces, "RUN", 50)
    for module in (pieces, near_on_disk) if where == "a piece" else (near_on_disk,):
        monkeypatch.setattr(module, "MOST_PAIRS", 400)
    with pytest.raises(InputError, match=r"pairs have a cosine of 0\.9 or more, very many of them with text 108; exp"):
        near_pairs_on_disk(shards, tmp_path / "out", 0.9)
    assert len(list((tmp_path / "out").rglob("0*.npy"))) == (where != "a piece")
