"""An encoder packed as what was changed of another one, and made whole again in the user's cache.

Training moves weights little. Of each matrix that it moved the change is kept in four bits a number, with a scale a
row, beside the one that it started from; what did not move is not kept at all.

Shape key: R rows and C columns of a matrix.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from paraform.encoders.folder import WEIGHTS, ModelFolder
from paraform.records import InputError
from paraform.weights import PathLike, cache_folder, load_tensors, pretrained_folder, save_tensors, sha256

PACKED, CHANGE = "packed.json", "change.safetensors"
SCALE = ".scale"  # behind the name of the matrix whose rows it belongs to
MOST = 7  # a change is −7 to 7 times its row's scale


def pack(whole: PathLike, base: Path, folder: PathLike, *, name: str) -> None:
    """Write a folder that `unpacked` makes whole again, nearly.

    Args:
        whole: an encoder's folder as Hugging Face or sentence-transformers has it.
        base: the folder of the encoder that it started from.
        folder: the folder to be made.
        name: what `encoders.locate` knows that one by.
    Raises: InputError if a tensor of the one is not in the other.
    """
    own, start = load_tensors(Path(whole) / WEIGHTS), load_tensors(base / WEIGHTS)
    shutil.copytree(whole, folder)
    (Path(folder) / WEIGHTS).unlink()
    changes: dict[str, Tensor] = {}
    for key, tensor in own.items():
        if key not in start or start[key].shape != tensor.shape:
            raise InputError(f"{whole}: tensor {key!r} is not {name}'s; expected an encoder that started from it")
        change = tensor.float() - start[key].float()
        if tensor.ndim != 2 or not change.any():
            changes |= {key: change.half()} if change.any() else {}
            continue
        changes |= _quantized(key, change)
    save_tensors(changes, Path(folder) / CHANGE)
    made = _made_whole(start, changes, sorted(own))
    with tempfile.TemporaryDirectory() as scratch:
        digest = save_tensors(made, Path(scratch) / WEIGHTS)
    about = {"base": name, "base_sha256": sha256(base / WEIGHTS), "sha256": digest, "tensors": sorted(own)}
    (Path(folder) / PACKED).write_text(json.dumps(about, indent=1) + "\n", encoding="utf-8")


def packed_folder(name: str) -> ModelFolder | None:
    """The folder of an embedded encoder of that name that is packed; None: there is none."""
    folder = pretrained_folder(name)
    return ModelFolder(folder) if folder is not None and (folder / PACKED).is_file() else None


def base_of(packed: ModelFolder) -> str:
    """The name of the encoder that a packed one started from."""
    return str(packed.settings(PACKED).get("base"))


def unpacked(packed: ModelFolder, base: Path) -> Path:
    """The whole encoder's folder, in the user's cache; made once, and checked by its digest.

    Raises: InputError if a file is damaged, or `base` is not the encoder that it started from.
    """
    folder, about = packed.path, _about(packed)
    final = cache_folder() / "encoders" / f"{folder.name}-{about['sha256'][:16]}"
    if (final / WEIGHTS).is_file():
        return final
    start = load_tensors(base / WEIGHTS, about["base_sha256"])
    made = _made_whole(start, load_tensors(folder / CHANGE), about["tensors"])
    final.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=f".{final.name}.", dir=final.parent) as scratch:
        whole = Path(scratch) / final.name
        shutil.copytree(folder, whole, ignore=shutil.ignore_patterns(CHANGE, PACKED))
        if (found := save_tensors(made, whole / WEIGHTS)) != about["sha256"]:
            raise InputError(f"{folder}: made whole its SHA-256 is {found}, expected {about['sha256']}")
        try:
            os.rename(whole, final)
        except OSError:
            if not (final / WEIGHTS).is_file():  # else another process was faster
                raise
    return final


def _about(packed: ModelFolder) -> dict[str, Any]:
    """What `packed.json` says. Raises: InputError if a digest or the list of tensors is none."""
    path, about = packed.path / PACKED, packed.settings(PACKED)
    for name in ("sha256", "base_sha256"):
        if not re.fullmatch("[0-9a-f]{64}", str(about.get(name))):
            raise InputError(f"{path}: {name} {str(about.get(name))[:80]!r}; expected 64 hexadecimal digits")
    names = about.get("tensors")
    if not isinstance(names, list) or not all(isinstance(name, str) for name in names):
        raise InputError(f"{path}: tensors is no list of names")
    return about


def _quantized(key: str, change_RC: Tensor) -> dict[str, Tensor]:
    """Two numbers a byte, the even column in the low half; a last odd column has a 0 beside it."""
    scale_R1 = (change_RC.abs().amax(1, keepdim=True) / MOST).half()
    steps_RC = (change_RC / scale_R1.float().clamp_min(1e-12)).round().clamp(-MOST, MOST) + 8
    steps_RC = torch.nn.functional.pad(steps_RC, (0, steps_RC.shape[1] % 2), value=8).to(torch.uint8)
    return {key: steps_RC[:, ::2] | steps_RC[:, 1::2] << 4, key + SCALE: scale_R1}


def _made_whole(start: Mapping[str, Tensor], changes: Mapping[str, Tensor], names: Sequence[str]) -> dict[str, Tensor]:
    out = {}
    for name in names:
        if name not in start:
            raise InputError(f"packed encoder: no tensor {name!r} in what it started from")
        before, change = start[name].float(), changes.get(name)
        if change is None:
            out[name] = before
            continue
        expected, scale = before.shape, changes.get(name + SCALE)
        if scale is not None:
            expected = torch.Size((before.shape[0], (before.shape[-1] + 1) // 2))
        if change.shape != expected or (scale is not None and (before.ndim, scale.shape) != (2, (len(before), 1))):
            raise InputError(f"packed encoder: change of {name!r} {list(change.shape)}; expected {list(expected)}")
        if (change.dtype == torch.uint8) != (scale is not None):
            raise InputError(f"packed encoder: change of {name!r} is {change.dtype}, scale {scale is not None}")
        if scale is not None:
            halves = torch.stack([change & 15, change >> 4], 2).flatten(1)[:, : before.shape[1]]
            # one rounding each, so that all processors make the same
            change = (halves.float() - 8) * scale.float()
        out[name] = before + change.float()
    return out
