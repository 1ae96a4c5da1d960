"""A search index on disk: what a kill leaves, and what of a folder nobody should trust."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from paraform import checkpoint, manifest
from paraform.neighbours import search_folder
from paraform.neighbours.search_folder import Kept
from paraform.neighbours.search_rows import rows_of
from paraform.records import InputError
from paraform.weights import sha256

FILES = ("vectors.npy", "rows.jsonl", "starts.npy")


def kept(count: int = 5, seed: int = 0) -> Kept:
    vectors = np.random.default_rng(seed).standard_normal((count, 4)).astype(np.float32)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    return Kept(vectors, rows_of([f"text {seed} {row} é" for row in range(count)], None), "minilm", "model:minilm", "")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    search_folder.write(tmp_path / "index", kept())
    return tmp_path / "index"


def same(one: Kept, other: Kept) -> bool:
    equal = np.array_equal(one.vectors_ND, other.vectors_ND) and np.array_equal(one.rows.lines, other.rows.lines)
    return bool(equal and np.array_equal(one.rows.starts, other.rows.starts) and one[2:] == other[2:])


@pytest.mark.parametrize("count", [0, 1, 5])
def test_comes_back(count: int, tmp_path: Path) -> None:
    search_folder.write(tmp_path / "index", kept(count))
    assert same(search_folder.read(tmp_path / "index"), kept(count))
    assert sorted(path.name for path in (tmp_path / "index").iterdir()) == sorted([*FILES, "paraform.json"])


def test_arrays_stay_on_disk_and_are_not_written_to(folder: Path) -> None:
    found = search_folder.read(folder)
    for array in (found.vectors_ND, found.rows.lines, found.rows.starts):
        assert isinstance(array.base, np.memmap)
    before = sha256(folder / "vectors.npy")
    found.vectors_ND[:] = 0
    assert sha256(folder / "vectors.npy") == before


def test_a_kill_at_any_moment_leaves_the_old_or_the_new(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The folder is copied before and after each rename: what a kill would leave at that moment."""
    replace, moments = os.replace, []

    def watched(source: Any, target: Any) -> None:
        for when in (lambda: None, lambda: replace(source, target)):
            when()
            moments.append(shutil.copytree(folder, tmp_path / f"moment{len(moments)}"))

    with monkeypatch.context() as patched:
        patched.setattr(os, "replace", watched)
        search_folder.write(folder, kept(7, seed=1))
    found = ["old" if same(search_folder.read(moment), kept()) else "new" for moment in moments]
    assert found == sorted(found, reverse=True) and set(found) == {"old", "new"} and len(found) >= 8
    assert all(
        same(search_folder.read(m), kept(7, 1)) for m, which in zip(moments, found, strict=True) if which == "new"
    )


KILLED = """
import os, signal, sys
from pathlib import Path
sys.path.insert(0, sys.argv[2])
from test_search_folder import kept
from paraform.neighbours import search_folder
search_folder._save = lambda path, array: os.kill(os.getpid(), signal.SIGKILL)
search_folder.write(Path(sys.argv[1]), kept(9, seed=2))
"""


def test_a_process_that_is_killed_while_it_saves(folder: Path, tmp_path: Path) -> None:
    """SIGKILL, into a folder with an index, and into none."""
    for place in (folder, tmp_path / "new"):
        done = subprocess.run([sys.executable, "-c", KILLED, str(place), str(Path(__file__).parent)])
        assert done.returncode == -9
    assert same(search_folder.read(folder), kept())
    with pytest.raises(InputError, match="no such file; expected a folder that paraform index"):
        search_folder.read(tmp_path / "new")
    for place in (folder, tmp_path / "new"):
        search_folder.write(place, kept(3))
        assert same(search_folder.read(place), kept(3))
        assert not [path for path in place.iterdir() if path.name[0] == "."]


def test_what_is_no_index_is_left_alone(tmp_path: Path, tiny_run: Path) -> None:
    model = tmp_path / "model"
    shutil.copytree(tiny_run / "best", model)
    (tmp_path / "thesis").mkdir()
    (tmp_path / "thesis" / "thesis.txt").write_text("mine")
    (tmp_path / "file").write_text("mine")
    for name, said in (
        ("model", "holds a model, 'exemplar'; expected a new or empty folder, or that of a search index"),
        ("thesis", "holds something else; expected a new or empty folder"),
        ("file", "not a folder; expected the name of one"),
    ):
        before = sorted(tmp_path.rglob("*"))
        with pytest.raises(InputError, match=said):
            search_folder.write(tmp_path / name, kept())
        assert sorted(tmp_path.rglob("*")) == before
    checkpoint.load(model, device="cpu")
    with pytest.raises(InputError, match=r"of 'exemplar'; expected what SearchIndex\.save wrote"):
        search_folder.read(model)


def test_an_index_is_no_model(folder: Path) -> None:
    with pytest.raises(InputError, match="system 'search-index'"):
        checkpoint.load(folder)


@pytest.mark.parametrize("name", [*FILES, "paraform.json"])
def test_an_altered_byte_is_told(name: str, folder: Path) -> None:
    good = (folder / name).read_bytes()
    for place in np.random.default_rng(0).integers(0, len(good), 10):
        (folder / name).write_bytes(good[:place] + bytes([good[place] ^ 1]) + good[place + 1 :])
        with pytest.raises(InputError, match=r"SHA-256 is not the one|paraform\.json"):
            search_folder.read(folder)


def sign(folder: Path, **config: Any) -> None:
    """As somebody who alters files and knows how `paraform.json` is made would."""
    about = json.loads((folder / "paraform.json").read_text()) | {"files": {}}
    about["config"] |= config
    about["files"] = {name: sha256(folder / name) for name in FILES if (folder / name).is_file()}
    del about["digest"]
    digest = hashlib.sha256(json.dumps(about, sort_keys=True).encode()).hexdigest()
    (folder / "paraform.json").write_text(json.dumps(about | {"digest": digest}))


def refused(folder: Path, said: str, **config: Any) -> None:
    sign(folder, **config)
    with pytest.raises(InputError, match=said) as caught:
        search_folder.read(folder)
    assert "\n" not in str(caught.value) and len(str(caught.value)) < 500


@pytest.mark.parametrize(
    ("config", "said"),
    [
        ({"version": 0}, "version 0 of a search index, expected 1; build and save it again"),
        ({"version": [1]}, r"version \[1\] of a search index"),
        ({"model": 3}, "model is '3'; expected a text"),
        ({"signature": None}, "signature is 'None'; expected a text"),
        ({"vectors": {}}, "vectors is '{}'; expected a text"),
    ],
)
def test_a_foreign_config(config: dict[str, Any], said: str, folder: Path) -> None:
    refused(folder, said, **config)


@pytest.mark.parametrize(
    ("value", "said"),
    [(np.nan, "not of length 1"), (np.inf, "not of length 1"), (3e38, "not of length 1"), (0.5, "not of length 1")],
)
def test_vectors_that_are_none(value: float, said: str, folder: Path) -> None:
    vectors = np.load(folder / "vectors.npy")
    vectors[3, 1] = value
    np.save(folder / "vectors.npy", vectors)
    refused(folder, said)


@pytest.mark.parametrize(
    "change",
    [
        lambda vectors: vectors[:-1],
        lambda vectors: vectors.astype(np.float64),
        lambda vectors: vectors.reshape(-1),
        lambda vectors: np.asfortranarray(vectors),
        lambda vectors: np.concatenate([vectors, vectors]),
    ],
)
def test_vectors_of_another_shape(change: Any, folder: Path) -> None:
    np.save(folder / "vectors.npy", change(np.load(folder / "vectors.npy")))
    refused(folder, "a damaged index .*; build and save it again")


@pytest.mark.parametrize("wrong", [10**15, -1, 2**62, 0])
@pytest.mark.parametrize("place", [0, 2, 5])
def test_places_outside_the_rows(place: int, wrong: int, folder: Path) -> None:
    starts = np.load(folder / "starts.npy")
    starts[place] = wrong if (place, wrong) != (0, 0) else 1
    np.save(folder / "starts.npy", starts)
    refused(folder, "do not begin and end where they should")


@pytest.mark.parametrize("change", [lambda starts: starts[:-1], lambda starts: starts.astype(np.uint64)])
def test_places_of_another_kind(change: Any, folder: Path) -> None:
    np.save(folder / "starts.npy", change(np.load(folder / "starts.npy")))
    refused(folder, "places of u?int64 for 5 vectors")


def test_rows_that_are_cut(folder: Path) -> None:
    (folder / "rows.jsonl").write_bytes((folder / "rows.jsonl").read_bytes()[:-3])
    refused(folder, "do not begin and end where they should")
    (folder / "rows.jsonl").write_bytes(b"")
    refused(folder, "do not begin and end where they should")


@pytest.mark.parametrize("name", FILES)
def test_a_file_that_is_gone_or_a_pipe(name: str, folder: Path) -> None:
    (folder / name).unlink()
    with pytest.raises(InputError, match=r"no such file; paraform\.json lists it"):
        search_folder.read(folder)
    os.mkfifo(folder / name)
    with pytest.raises(InputError, match=r"no such file; paraform\.json lists it"):
        search_folder.read(folder)
    (folder / name).unlink()
    refused(folder, f"lists no '{name}'")


@pytest.mark.parametrize("rows", [10**12, 2**62, 10**30])
@pytest.mark.parametrize("name", ["vectors.npy", "starts.npy"])
def test_a_header_that_claims_more_than_there_is(name: str, rows: int, folder: Path) -> None:
    """Memory is taken for none of it."""
    shape = (rows, 4) if name == "vectors.npy" else (rows,)
    with (folder / name).open("wb") as out:
        header = {"descr": "<f4" if len(shape) > 1 else "<i8", "fortran_order": False, "shape": shape}
        np.lib.format.write_array_header_1_0(out, header)
    refused(folder, str(rows))


def test_a_file_that_is_no_array(folder: Path) -> None:
    (folder / "vectors.npy").write_bytes(b"\x80\x04K\x01.")
    refused(folder, "expected a .npy file of numbers")


def test_files_elsewhere_are_not_read(folder: Path) -> None:
    about = json.loads((folder / "paraform.json").read_text())
    about["files"]["../vectors.npy"] = about["files"].pop("vectors.npy")
    del about["digest"]
    digest = hashlib.sha256(json.dumps(about, sort_keys=True).encode()).hexdigest()
    (folder / "paraform.json").write_text(json.dumps(about | {"digest": digest}))
    with pytest.raises(InputError, match="expected letters, digits"):
        search_folder.read(folder)
    assert manifest.NAME == "paraform.json"
