"""Vectors that are kept on disk, so that a text once encoded is not encoded again, in this call or a later one."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from paraform.capabilities import Embed
from paraform.evaluation.content import finite_vectors
from paraform.json_text import parse_json
from paraform.records import InputError
from paraform.weights import PathLike, atomic_path, map_array


def kept(embed: Embed, signature: str, folder: PathLike) -> Embed:
    """`embed`, whose vectors are kept in a folder and read from there.

    Args:
        signature: all that changes a vector, the weights' digest too (`checkpoint.signature_of`); the files' names are
            made from it. What is appended by two processes at once is kept by one of them.
    """
    name = hashlib.sha256(signature.encode()).hexdigest()[:16]
    rows_file, texts_file = Path(folder) / f"{name}.npy", Path(folder) / f"{name}.json"

    def embed_kept(texts: Sequence[str]) -> NDArray[np.float32]:
        known, rows_ND = _read(rows_file, texts_file)
        missing = [text for text in dict.fromkeys(texts) if text not in known]
        if missing:
            new_ND = finite_vectors(embed, missing)
            rows_ND = np.concatenate([rows_ND, new_ND]) if len(known) else new_ND
            known |= {text: len(known) + at for at, text in enumerate(missing)}
            _write(rows_file, texts_file, known, rows_ND)
        vectors_ND: NDArray[np.float32] = rows_ND[[known[text] for text in texts]]
        return vectors_ND

    return embed_kept


def _read(rows_file: Path, texts_file: Path) -> tuple[dict[str, int], NDArray[np.float32]]:
    """The texts with their rows; none if either file is not there."""
    if not (rows_file.is_file() and texts_file.is_file()):
        return {}, np.zeros((0, 1), np.float32)
    try:
        texts = parse_json(texts_file.read_text(encoding="utf-8"), texts_file)
        rows_ND = np.array(map_array(rows_file))  # read, since the file is replaced when it grows
    except ValueError as error:
        raise InputError(f"{rows_file} and .json: {error}; remove both, to encode the texts anew") from error
    if len(texts) > len(rows_ND):
        raise InputError(f"{rows_file}: {len(rows_ND)} rows for {len(texts)} texts; remove it, to encode them anew")
    return {text: row for row, text in enumerate(texts)}, rows_ND[: len(texts)]


def _write(rows_file: Path, texts_file: Path, known: dict[str, int], rows_ND: NDArray[np.float32]) -> None:
    """The rows first: a kill in between leaves more rows than texts, which reading puts up with."""
    rows_file.parent.mkdir(parents=True, exist_ok=True)
    with atomic_path(rows_file) as unfinished, open(unfinished, "wb") as out:
        np.save(out, rows_ND, allow_pickle=False)
    with atomic_path(texts_file) as unfinished:
        unfinished.write_text(json.dumps(list(known)), encoding="ascii")
