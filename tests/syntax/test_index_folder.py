"""An index on disk: what comes back, and what of it a search would rather not touch."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from paraform.records import InputError, Sentence
from paraform.syntax import ExemplarIndex, MiningConfig, index_folder
from paraform.weights import sha256

TAGS = ("NN", "VB", "DT", "IN")


def sentences(count: int, seed: int = 0) -> list[Sentence]:
    draw = np.random.default_rng(seed)
    out = []
    for number in range(count):
        tags = [TAGS[tag] for tag in draw.integers(0, len(TAGS), draw.integers(3, 9))]
        words = tuple(f"w{number}é{place}" for place in range(len(tags)))
        out.append(Sentence(" ".join(words), words, tuple(tags)))
    return out


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    ExemplarIndex.build(sentences(200), list(range(200))).save(tmp_path / "index")
    return tmp_path / "index"


def test_comes_back(folder: Path) -> None:
    built, asked = ExemplarIndex.build(sentences(200), list(range(200))), sentences(40, seed=1)
    loaded = ExemplarIndex.load(folder)
    for config in (MiningConfig(), MiningConfig(among="nearest", window=30), MiningConfig(exclude_cluster=False)):
        assert loaded.nearest(asked, config, clusters=range(40)) == built.nearest(asked, config, clusters=range(40))
    assert loaded.text(7) == sentences(200)[7].text
    loaded.add(asked)
    built.add(asked)
    assert loaded.nearest(asked, k=3) == built.nearest(asked, k=3)


def test_large_arrays_stay_on_disk(folder: Path) -> None:
    ExemplarIndex.build(sentences(2000)).save(folder)
    loaded = ExemplarIndex.load(folder)
    arrays = loaded._encoded.rows.words, loaded._made.planes.words if loaded._made else None
    assert all(isinstance(getattr(array, "base", None), np.memmap) for array in arrays)


@pytest.mark.parametrize("count", [0, 1])
def test_of_few_sentences(count: int, tmp_path: Path) -> None:
    ExemplarIndex.build(sentences(count)).save(tmp_path)
    loaded = ExemplarIndex.load(tmp_path)
    assert len(loaded) == count
    if count:
        assert loaded.nearest(sentences(1)) == [[]]  # itself alone is there
    else:
        with pytest.raises(ValueError, match="holds 0 sentences"):
            loaded.nearest(sentences(1))


def test_saved_over_the_former_one(folder: Path) -> None:
    former = set(folder.iterdir())
    ExemplarIndex.build(sentences(10)).save(folder)
    assert len(ExemplarIndex.load(folder)) == 10
    assert len(set(folder.iterdir())) == len(former)  # nothing of the former is left


def test_what_a_killed_save_left_is_no_obstacle(folder: Path, tmp_path: Path) -> None:
    (folder / "index.json").unlink()
    (folder / ".index.json.0123abcd.unfinished").mkdir()
    (folder / ".rows-words.0123abcd.npy.4567abcd.unfinished").mkdir()
    ExemplarIndex.build(sentences(10)).save(folder)
    assert len(ExemplarIndex.load(folder)) == 10
    assert not list(folder.glob(".*"))


def test_files_of_others_stay(folder: Path) -> None:
    np.save(folder / "my_embeddings.npy", np.zeros(3))
    ExemplarIndex.build(sentences(10)).save(folder)
    assert (folder / "my_embeddings.npy").is_file()


def arrays_of(folder: Path) -> dict[str, str]:
    arrays: dict[str, str] = json.loads((folder / "index.json").read_text())["arrays"]
    return arrays


def sign(folder: Path, **changes: Any) -> None:
    """As somebody who alters files and knows how `index.json` is made would."""
    about = json.loads((folder / "index.json").read_text()) | changes
    del about["digest"]
    files = about["arrays"].items()
    about["digests"] = {name: sha256(folder / file) if (folder / file).is_file() else "" for name, file in files}
    (folder / "index.json").write_text(json.dumps(about | {"digest": index_folder._digest(about)}))


def test_blocks_that_are_too_large(folder: Path) -> None:
    """Compiled code has room for so many sequences of a block and no more."""
    ExemplarIndex.build(sentences(6000)).save(folder)
    names = arrays_of(folder)
    starts, of_length = (np.load(folder / names[f"blocks-{name}"]) for name in ("starts", "of_length"))
    length = int(np.argmax(np.diff(of_length)))
    first, last = of_length[length : length + 2]
    assert last - first > 1
    joined = np.delete(starts, slice(first + 1, last))
    np.save(folder / names["blocks-starts"], joined)
    np.save(folder / names["blocks-of_length"], np.where(of_length > first, of_length - (last - first - 1), of_length))
    for name in ("every", "some"):
        bits = np.load(folder / names[f"blocks-{name}"])
        np.save(folder / names[f"blocks-{name}"], np.ascontiguousarray(np.delete(bits, slice(first + 1, last), axis=1)))
    sign(folder)
    with pytest.raises(InputError, match="a block of too many sequences"):
        ExemplarIndex.load(folder)


@pytest.mark.parametrize(
    "beginning",
    [
        b"PK\x03\x04 no zip file",
        b"\x93NUMPY\x01\x00\x04\x00((((",
        b"\x93NUMPY\x01\x00\x04\x00---1",
        b"\x93NUMPY\x01\x00\x20\x1f" + b"-" * 7999 + b"1" + b" " * 100,
        b"",
        b"\x80\x04K\x01.",
    ],
)
def test_what_numpy_takes_for_something_else(beginning: bytes, folder: Path) -> None:
    (folder / arrays_of(folder)["codes"]).write_bytes(beginning)
    sign(folder)
    with pytest.raises(InputError, match="a damaged index"):
        ExemplarIndex.load(folder)


def test_planes_that_are_too_short(folder: Path) -> None:
    """What is one column less at the end would be read beyond it."""
    names = arrays_of(folder)
    words, starts = (np.load(folder / names[f"planes-{name}"]) for name in ("words", "starts"))
    starts[-1] -= 8
    np.save(folder / names["planes-words"], words[:-8])
    np.save(folder / names["planes-starts"], starts)
    sign(folder)
    with pytest.raises(InputError, match="planes are not as long as its sequences"):
        ExemplarIndex.load(folder)


def test_other_folders_are_left_alone(tmp_path: Path) -> None:
    (tmp_path / "thesis.txt").write_text("mine")
    with pytest.raises(InputError, match="holds something else"):
        ExemplarIndex.build(sentences(3)).save(tmp_path)
    with pytest.raises(InputError, match="holds something else"):
        ExemplarIndex.build(sentences(3)).save(tmp_path / "thesis.txt")
    assert [path.name for path in tmp_path.iterdir()] == ["thesis.txt"]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("", "expected what ExemplarIndex.save wrote"),
        ("[1]", "not an exemplar index"),
        ('{"format": "other"}', "not an exemplar index"),
        ('{"format": "paraform exemplar index", "version": 0}', "version 0, expected 4; build and save it again"),
        ('{"format": "paraform exemplar index", "version": 4}', "a damaged index"),
        ('{"format": "paraform exemplar index", "version": 4, "tags": 3, "words": [], "arrays": {}}', "damaged"),
        ('{"format": ' + "[" * 950 + "]" * 950 + "}", "more than 100 brackets inside each other"),
    ],
)
def test_a_foreign_manifest(content: str, message: str, folder: Path) -> None:
    (folder / "index.json").write_text(content)
    with pytest.raises(InputError, match=message):
        ExemplarIndex.load(folder)


def test_no_index(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"no such file; expected a folder that ExemplarIndex.save wrote"):
        ExemplarIndex.load(tmp_path)


NAMES = [
    *(f"rows-{name}" for name in ("words", "counts", "starts", "texts", "wordings", "clusters")),
    *("codes", "starts", "characters", "text_starts", "bit_of"),
    *(f"planes-{name}" for name in ("words", "starts")),
    *(f"blocks-{name}" for name in ("starts", "every", "some", "of_length")),
    *(f"{name}-{part}" for name in ("members", "different") for part in ("members", "starts")),
]


@pytest.mark.parametrize("name", NAMES)
def test_a_damaged_array(name: str, folder: Path) -> None:
    """Cut, of another kind, gone, and, where its values are places, with one that lies outside."""
    file = folder / arrays_of(folder)[name]
    array = np.load(file)

    def refused() -> None:
        sign(folder)
        with pytest.raises(InputError, match="a damaged index"):
            ExemplarIndex.load(folder)

    np.save(file, array[..., :-1])
    refused()
    np.save(file, array.astype(np.float64))
    refused()
    file.write_bytes(file.read_bytes()[:-8] if array.nbytes else b"")
    refused()
    if name.endswith(("starts", "members", "codes", "bit_of", "of_length")):
        wild = array.copy()
        wild.flat[len(wild.flat) // 2] = np.iinfo(wild.dtype).max // 2
        np.save(file, wild)
        refused()
    if name.endswith(("starts", "of_length")) and len(array) > 5:
        wild = array.copy()
        wild[2:5] = np.iinfo(np.int64).max, np.iinfo(np.int64).min, -1  # no difference of neighbours is below 0
        np.save(file, wild)
        refused()
    file.unlink()
    refused()


def test_every_array_is_among_the_damaged(folder: Path) -> None:
    assert sorted(arrays_of(folder)) == sorted(NAMES)


@pytest.mark.parametrize("name", [*NAMES, "index.json"])
def test_an_altered_byte_is_told(name: str, folder: Path) -> None:
    """Most leave an index that finds other sentences."""
    path = folder / (name if name == "index.json" else arrays_of(folder)[name])
    good = path.read_bytes()
    for place in np.random.default_rng(0).integers(0, len(good), 10):
        path.write_bytes(good[:place] + bytes([good[place] ^ 1]) + good[place + 1 :])
        with pytest.raises(InputError, match=r"a damaged index|index\.json"):
            ExemplarIndex.load(folder)


@pytest.mark.parametrize("rows", [10**12, 2**62, 10**30])
def test_a_header_that_claims_more_than_there_is(rows: int, folder: Path) -> None:
    """Memory is taken for none of it."""
    with (folder / arrays_of(folder)["codes"]).open("wb") as out:
        np.lib.format.write_array_header_1_0(out, {"descr": "<u2", "fortran_order": False, "shape": (rows,)})
    sign(folder)
    with pytest.raises(InputError, match=f"a damaged index .*{rows}"):
        ExemplarIndex.load(folder)


@pytest.mark.parametrize("name", ["codes", "index.json"])
def test_a_pipe_is_not_waited_for(name: str, folder: Path) -> None:
    path = folder / (name if name == "index.json" else arrays_of(folder)[name])
    path.unlink()
    os.mkfifo(path)
    with pytest.raises(InputError, match="no such file"):
        ExemplarIndex.load(folder)


def test_texts_that_are_not_utf_8(folder: Path) -> None:
    file = folder / arrays_of(folder)["characters"]
    np.save(file, np.full_like(np.load(file), 0xFF))
    sign(folder)
    with pytest.raises(InputError, match=r"row 3 of a damaged index: .*build and save it again"):
        ExemplarIndex.load(folder).text(3)


@pytest.mark.parametrize("words", [None, 3, "abc", [1], [["a"]], {"a": 1}])
@pytest.mark.parametrize("name", ["tags", "words"])
def test_words_that_are_none(name: str, words: Any, folder: Path) -> None:
    sign(folder, **{name: words})
    with pytest.raises(InputError, match=f"a damaged index .its {name} are no list of words"):
        ExemplarIndex.load(folder)


def test_a_file_elsewhere_is_not_read(folder: Path) -> None:
    arrays = arrays_of(folder)
    sign(folder, arrays=arrays | {"codes": "../index/" + arrays["codes"]})
    with pytest.raises(InputError, match="is no file's name"):
        ExemplarIndex.load(folder)
