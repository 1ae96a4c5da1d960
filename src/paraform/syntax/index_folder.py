"""An exemplar index as a folder: `index.json`, and one `.npy` file an array, read by memory map.

`index.json` names the arrays' files and is replaced last, so that a kill leaves the old index or the new one. It holds
the digests of them all, and of itself: most damage would leave an index that finds other sentences. A digest says that
the files are as somebody left them, not that it was us, so that all places are looked at, too.
"""

from __future__ import annotations

import hashlib
import json
import re
import secrets
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from paraform.json_text import parse_json
from paraform.records import InputError
from paraform.syntax.compiled import read_only
from paraform.syntax.distances import Planes
from paraform.syntax.features import BLOCK, RANKS, Blocks
from paraform.syntax.lanes import WORDS
from paraform.syntax.rows import Encoded, Groups, Numbers, Rows
from paraform.syntax.searchable import Searchable
from paraform.weights import atomic_path, map_array, sha256

NAME = "index.json"
ARRAY = re.compile(r"[a-z_-]+\.[0-9a-f]{8}\.npy|\.[a-z_.-]+[0-9a-f.]*(npy|json)\.[0-9a-f]{8}\.unfinished")
DAMAGED = (KeyError, TypeError, ValueError, AttributeError, OSError, IndexError)  # what damaged arrays raise
FORMAT = "paraform exemplar index"
VERSION = 4  # of the arrays and what they mean


def write(folder: Path, numbers: Numbers, encoded: Encoded, made: Searchable) -> None:
    """Raises: InputError if the folder holds something that is no index."""
    if folder.exists() and not _ours(folder):
        raise InputError(f"{folder}: holds something else; expected a new or empty folder, or one with {NAME}")
    folder.mkdir(parents=True, exist_ok=True)
    token = secrets.token_hex(4)
    files = {}
    for name, array in _flattened(encoded, made).items():
        files[name] = f"{name}.{token}.npy"
        with atomic_path(folder / files[name]) as unfinished, open(unfinished, "wb") as out:
            np.save(out, array, allow_pickle=False)
    about: dict[str, Any] = {"format": FORMAT, "version": VERSION, "sentences": len(encoded.rows.texts)}
    about |= {"arrays": files, "digests": {name: sha256(folder / file) for name, file in files.items()}}
    about |= {"tags": list(numbers.tags), "words": list(numbers.words)}
    with atomic_path(folder / NAME) as unfinished:
        unfinished.write_text(json.dumps(about | {"digest": _digest(about)}), encoding="utf-8")
    for path in folder.iterdir():
        if path.is_file() and ARRAY.fullmatch(path.name) and path.name not in files.values():
            path.unlink(missing_ok=True)


def _ours(folder: Path) -> bool:
    """An index, or what a killed `write` has left of its first one."""
    return folder.is_dir() and (
        (folder / NAME).is_file() or all(ARRAY.fullmatch(path.name) for path in folder.iterdir())
    )


def read(folder: Path) -> tuple[Numbers, Encoded, Searchable]:
    """Raises: InputError if the folder holds no index, one of another version, or a damaged one."""
    place = folder / NAME
    if not place.is_file():
        raise InputError(f"{place}: no such file; expected a folder that ExemplarIndex.save wrote")
    about = parse_json(place.read_bytes(), place, "what ExemplarIndex.save wrote")
    if not isinstance(about, dict) or about.get("format") != FORMAT:
        raise InputError(f"{place}: not an exemplar index; expected the format {FORMAT!r}")
    if about.get("version") != VERSION:
        raise InputError(f"{place}: version {about.get('version')!r}, expected {VERSION}; build and save it again")
    try:
        if about.pop("digest") != _digest(about):
            raise ValueError(f"{NAME} is not as it was written")
        for name in ("tags", "words"):
            if not isinstance(about[name], list) or not all(isinstance(word, str) for word in about[name]):
                raise ValueError(f"its {name} are no list of words")
            if len(set(about[name])) < len(about[name]):
                raise ValueError(f"its {name} have one twice")
        numbers = Numbers(about["tags"], about["words"])
        arrays = {name: _mapped(folder, file, about["digests"][name]) for name, file in about["arrays"].items()}
        encoded, made = _restored(arrays)
        _check(encoded, made, about["sentences"], numbers)
    except DAMAGED as error:
        raise InputError(f"{folder}: a damaged index ({error}); build and save it again") from error
    return numbers, encoded, made


def _flattened(encoded: Encoded, made: Searchable) -> dict[str, NDArray[Any]]:
    parts: dict[str, NamedTuple] = {
        "rows": encoded.rows,
        "blocks": made.blocks,
        "planes": made.planes,
        "members": made.members,
        "different": made.different,
    }
    arrays = {f"{part}-{name}": array for part, arrays in parts.items() for name, array in arrays._asdict().items()}
    texts = {name: getattr(encoded, name) for name in Encoded._fields if name != "rows"}
    return arrays | texts | {"bit_of": made.bit_of}


def _restored(arrays: dict[str, NDArray[Any]]) -> tuple[Encoded, Searchable]:
    def part(kind: Any, name: str) -> Any:
        return kind(*(arrays[f"{name}-{field}"] for field in kind._fields))

    encoded = Encoded(part(Rows, "rows"), *(arrays[name] for name in Encoded._fields if name != "rows"))
    kinds = {"blocks": Blocks, "planes": Planes, "members": Groups, "different": Groups}
    made = Searchable(arrays["bit_of"], *(part(kind, name) for name, kind in kinds.items()))
    return read_only(encoded), read_only(made)


def _digest(about: dict[str, Any]) -> str:
    return hashlib.sha256(json.dumps(about, sort_keys=True).encode()).hexdigest()


def _mapped(folder: Path, file: str, digest: str) -> NDArray[Any]:
    if Path(file).name != file:
        raise ValueError(f"{file!r} is no file's name")
    array = map_array(folder / file)
    if sha256(folder / file) != digest:
        raise ValueError(f"{file} is not as it was written")
    return array


def _check(encoded: Encoded, made: Searchable, count: int, numbers: Numbers) -> None:
    """Compiled code does not look whether a place is inside an array, so that all places are looked at here."""
    rows, blocks, planes = encoded.rows, made.blocks, made.planes
    sequences = len(made.members.starts) - 1
    wanted: dict[str, tuple[NDArray[Any], type, tuple[int, ...]]] = {
        "words": (rows.words, np.int32, rows.words.shape[:1]),
        "counts": (rows.counts, np.int32, rows.words.shape[:1]),
        "texts": (rows.texts, np.uint64, (count,)),
        "wordings": (rows.wordings, np.uint64, (count,)),
        "clusters": (rows.clusters, np.int64, (count,)),
        "codes": (encoded.codes, np.uint16, encoded.codes.shape[:1]),
        "characters": (encoded.characters, np.uint8, encoded.characters.shape[:1]),
        "every": (blocks.every, np.uint64, (2, len(blocks.starts) - 1)),
        "some": (blocks.some, np.uint64, (2, len(blocks.starts) - 1)),
        "bit_of": (made.bit_of, np.int64, (len(numbers.tags) + 1, RANKS)),
        "planes": (planes.words, np.uint64, planes.words.shape[:1]),
    }
    for name, (array, dtype, shape) in wanted.items():
        if array.dtype != dtype or array.shape != shape or not array.flags.c_contiguous:
            raise ValueError(f"{name} is {array.dtype} {list(array.shape)}, expected {np.dtype(dtype)} {list(shape)}")
    _check_starts("words", rows.starts, count, len(rows.words))
    _check_starts("tags", encoded.starts, count, len(encoded.codes))
    _check_starts("texts", encoded.text_starts, count, len(encoded.characters))
    _check_starts("blocks", blocks.starts, len(blocks.starts) - 1, sequences)
    _check_starts("lengths", blocks.of_length, len(blocks.of_length) - 1, len(blocks.starts) - 1)
    if not ((np.diff(blocks.starts) > 0) & (np.diff(blocks.starts) <= BLOCK)).all():
        raise ValueError("a block of too many sequences, or of none")
    lengths = np.repeat(np.arange(len(blocks.of_length) - 1), np.diff(blocks.of_length))
    _check_starts("planes", planes.starts, len(lengths), len(planes.words))
    if (np.diff(planes.starts) != lengths * len(numbers.tags).bit_length() * WORDS).any():
        raise ValueError("a block's planes are not as long as its sequences")
    if encoded.codes.max(initial=0) > len(numbers.tags):
        raise ValueError("a tag without a name")
    for groups in (made.members, made.different):
        _check_starts("members", groups.starts, sequences, len(groups.members))
        if groups.members.dtype != np.int64 or not ((groups.members >= 0) & (groups.members < count)).all():
            raise ValueError("a sequence of a sentence that is not there")
    if not ((made.bit_of >= -1) & (made.bit_of < 128)).all():
        raise ValueError("a feature without a bit")


def _check_starts(name: str, starts: NDArray[Any], count: int, end: int) -> None:
    if starts.dtype != np.int64 or starts.shape != (count + 1,) or starts[0] != 0 or starts[-1] != end:
        raise ValueError(f"the {name} do not begin and end where they should")
    if (starts[1:] < starts[:-1]).any():  # a difference may be too large for the numbers that it is of
        raise ValueError(f"the {name} run backwards")
