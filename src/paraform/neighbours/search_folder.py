"""A search index as a folder: `paraform.json`, `vectors.npy`, and `rows.jsonl` with where each of its lines begins.

It is written and checked as a checkpoint is (`manifest`): whole or not at all, with the digest of every file. The
arrays are mapped, not read into memory. A digest says that the files are as somebody left them, not that it was us, so
that every vector and every place is looked at, too.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from paraform import manifest
from paraform.manifest import Manifest, Writer
from paraform.neighbours.search_rows import Rows
from paraform.records import InputError
from paraform.weights import map_array, require_writable

SYSTEM = "search-index"
VERSION = 1  # of the files and what they mean
VECTORS, ROWS, STARTS = "vectors.npy", "rows.jsonl", "starts.npy"
AT_ONCE = 16_384  # vectors whose lengths are computed
OFF = 1e-3  # by which a squared length may miss 1: far more than rounding, and too little to show


class Kept(NamedTuple):
    """What a folder holds of an index.

    Args:
        vectors_ND: float32; each of length 1, or 0 where the model cannot read the text.
        name: by which `checkpoint.load` finds the model; "" if it was given without one.
        signature: the model's (`checkpoint.signature_of`).
        kind: which of its vectors; "": the first.
    """

    vectors_ND: NDArray[np.float32]
    rows: Rows
    name: str
    signature: str
    kind: str


def require_free(folder: Path) -> None:
    """For what takes long: raises now what `write` would raise at the end; makes the folder above and no file."""
    if folder.is_file():
        raise InputError(f"{folder}: not a folder; expected the name of one for a search index")
    if folder.is_dir():
        if (folder / manifest.NAME).is_file():
            system = manifest.read(folder).system
            other = f"holds a model, {system[:60]!r}" if system != SYSTEM else ""
        else:  # what a killed `write` leaves of its first one is hidden
            other = "holds something else" if any(path.name[0] != "." for path in folder.iterdir()) else ""
        if other:
            raise InputError(f"{folder}: {other}; expected a new or empty folder, or that of a search index")
        require_writable(folder / manifest.NAME)
    else:
        require_writable(folder)


def write(folder: Path, kept: Kept) -> None:
    """Raises: InputError if the folder holds something else."""
    require_free(folder)
    writers: dict[str, Writer] = {
        VECTORS: lambda path: _save(path, kept.vectors_ND),
        ROWS: lambda path: kept.rows.lines.tofile(path),
        STARTS: lambda path: _save(path, kept.rows.starts),
    }
    config: dict[str, Any] = {"version": VERSION, "model": kept.name, "signature": kept.signature, "vectors": kept.kind}
    about = Manifest(
        system=SYSTEM,
        config=config,
        assets=[],
        files={},
        dtype="float32",
        seed=None,
        data={},
        scores=[],
        versions=dict(manifest.versions()),
        git=manifest.revision(),
    )
    manifest.commit(folder, about, writers)


def read(folder: Path) -> Kept:
    """Raises: InputError if the folder holds no index, one of another version, or a damaged one."""
    if not (folder / manifest.NAME).is_file():
        raise InputError(
            f"{folder / manifest.NAME}: no such file; expected a folder that paraform index or SearchIndex.save wrote"
        )
    about = manifest.read(folder)
    place = folder / manifest.NAME
    if about.system != SYSTEM:
        raise InputError(f"{place}: of {about.system[:60]!r}; expected what SearchIndex.save wrote")
    if about.config.get("version") != VERSION:
        came = str(about.config.get("version"))[:40]
        raise InputError(f"{place}: version {came} of a search index, expected {VERSION}; build and save it again")
    told = {name: about.config.get(name) for name in ("model", "signature", "vectors")}
    for name, value in told.items():
        if not isinstance(value, str):
            raise InputError(f"{place}: {name} is {str(value)[:60]!r}; expected a text")
    vectors = manifest.located(folder, about, VECTORS)
    vectors_ND = map_array(vectors)
    rows = Rows(
        _mapped_bytes(manifest.located(folder, about, ROWS)), map_array(manifest.located(folder, about, STARTS))
    )
    try:
        _check(vectors_ND, rows)
    except ValueError as error:
        raise InputError(f"{folder}: a damaged index ({error}); build and save it again") from error
    # For torch, which warns of what is not to be written to; what were written would stay in this process.
    vectors_ND = np.asarray(np.lib.format.open_memmap(vectors, mode="c"))
    return Kept(vectors_ND, rows, str(told["model"]), str(told["signature"]), str(told["vectors"]))


def _save(path: Path, array: NDArray[Any]) -> None:
    with open(path, "wb") as out:  # numpy.save would add .npy to a name
        np.save(out, np.ascontiguousarray(array), allow_pickle=False)


def _mapped_bytes(path: Path) -> NDArray[np.uint8]:
    return np.asarray(np.memmap(path, np.uint8, "r")) if path.stat().st_size else np.zeros(0, np.uint8)


def _check(vectors_ND: NDArray[Any], rows: Rows) -> None:
    starts = rows.starts
    if vectors_ND.dtype != np.float32 or vectors_ND.ndim != 2 or not vectors_ND.flags.c_contiguous:
        raise ValueError(f"the vectors are {vectors_ND.dtype} {list(vectors_ND.shape)}, expected float32 [N, D]")
    if starts.dtype != np.int64 or starts.shape != (len(vectors_ND) + 1,):
        raise ValueError(f"{list(starts.shape)} places of {starts.dtype} for {len(vectors_ND):,} vectors")
    if starts[0] != 0 or starts[-1] != len(rows.lines) or (starts[1:] <= starts[:-1]).any():
        raise ValueError("the rows do not begin and end where they should")
    for start in range(0, len(vectors_ND), AT_ONCE):
        part_ND = vectors_ND[start : start + AT_ONCE]
        with np.errstate(all="ignore"):
            squares_N = np.einsum("nd,nd->n", part_ND, part_ND)
        if not ((np.abs(squares_N - 1) < OFF) | (squares_N == 0)).all():
            raise ValueError("a vector that is not of length 1")
