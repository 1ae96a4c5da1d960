"""The frozen vectors of texts' words, computed once and kept on disk."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import torch

from paraform.batching import Ragged
from paraform.evaluation.embedding.distances import WordSystem
from paraform.records import InputError
from paraform.weights import PathLike, atomic_path, map_array

BLOCK = 64  # texts whose states are held at once
ENDS = (".", "!", "?")


def kept_vectors(system: WordSystem, texts: Sequence[Sequence[str]], folder: PathLike) -> Ragged:
    """The states of the words of texts, float16 [N, D], from a file in that folder, which is made if there is none.

    A text of more words than the encoder reads is read in parts, which end with a sentence where one ends in their
    second half.

    Args:
        system: whose signature and the words name the file.
    Raises: InputError if a state is not finite, or beyond float16; or if the file is another's.
    """
    offsets = np.concatenate([[0], np.cumsum([len(words) for words in texts], dtype=np.int64)])
    key = hashlib.sha256(system.signature.encode())
    for words in texts:
        key.update("\0".join(words).encode(errors="replace") + b"\n")
    path = Path(folder) / f"{key.hexdigest()[:16]}.npy"
    if not path.is_file():
        _write(system, texts, offsets, path)
    try:
        values_ND = map_array(path)
    except InputError as error:
        raise InputError(f"{path}: {error}; remove it, to encode the texts anew") from error
    if values_ND.dtype != np.float16 or values_ND.ndim != 2 or len(values_ND) != offsets[-1]:
        came = f"{values_ND.dtype} {list(values_ND.shape)} for {offsets[-1]:,} words"
        raise InputError(f"{path}: {came}; remove it, to encode the texts anew")
    return Ragged(values_ND, offsets)


def parts_of(system: WordSystem, words: Sequence[str]) -> list[Sequence[str]]:
    """A text's words, in parts that the encoder reads whole."""
    parts: list[Sequence[str]] = []
    rest = words
    while rest:
        most = max(1, system.fitting([rest])[0])
        if most < len(rest):
            ends = [place + 1 for place in range(most // 2, most) if rest[place] in ENDS]
            most = ends[-1] if ends else most
        parts.append(rest[:most])
        rest = rest[most:]
    return parts


def _write(system: WordSystem, texts: Sequence[Sequence[str]], offsets: np.ndarray, path: Path) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    with atomic_path(path) as unfinished:
        out = None
        for start in range(0, len(texts), BLOCK):
            parts = [part for words in texts[start : start + BLOCK] for part in parts_of(system, words)]
            with torch.inference_mode():
                found_ND = system.words(parts).states_NLD.flatten(1).float()
            if not torch.isfinite(found_ND.half()).all():
                raise InputError(f"{system.name}: a word's vector holds what float16 does not; expected finite numbers")
            if out is None:
                shape = (int(offsets[-1]), found_ND.shape[1])
                out = np.lib.format.open_memmap(unfinished, mode="w+", dtype=np.float16, shape=shape)
            out[offsets[start] : offsets[min(start + BLOCK, len(texts))]] = found_ND.half().cpu().numpy()
        if out is None:
            raise InputError("no text; expected some to encode")
        out.flush()
