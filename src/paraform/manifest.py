"""`paraform.json`, and how a checkpoint folder is replaced as a whole.

A save writes every file under a waiting name (`.model.safetensors.waiting`), then replaces `paraform.json`, which
holds the digests of them all: that one rename is the commit. Only then do the files move to their own names. So a
kill before the commit leaves the old checkpoint, a kill after it the new one: a reader takes whichever of the two
names has the digest that `paraform.json` gives. One process writes a folder at a time, and others wait for it.
"""

from __future__ import annotations

import contextlib
import dataclasses
import functools
import hashlib
import json
import os
import platform
import re
import subprocess
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path
from typing import Any, TypeAlias

from paraform.json_text import parse_json
from paraform.records import InputError
from paraform.weights import PathLike, atomic_path, one_at_a_time, sha256

NAME = "paraform.json"
WEIGHTS = "model.safetensors"
CARD = "README.md"
FORMAT = 1

Writer: TypeAlias = Callable[[Path], object]
"""Writes one file at the path that it is given."""


@dataclass(frozen=True)
class Manifest:
    """What `paraform.json` says of its folder, beside its format and the digest of itself.

    Args:
        system: which class restores the model, such as "exemplar".
        config: the fields of that system's config; numbers, strings and booleans.
        assets: names of the text files that the model needs, such as "vocabulary.json".
        files: SHA-256 by name, of every other file of the checkpoint.
        dtype: the stored weights', "float32" or "float16".
        seed: the seed of the run that made them; None if there was none.
        data: SHA-256 by name, of the files that it was trained on.
        scores: name, value and signature of each figure.
        versions: Python's and the libraries'.
        git: revision of paraform's checkout; None outside one.
    """

    system: str
    config: dict[str, Any]
    assets: list[str]
    files: dict[str, str]
    dtype: str
    seed: int | None
    data: dict[str, str]
    scores: list[dict[str, Any]]
    versions: dict[str, str]
    git: str | None


def check_name(name: str, place: object) -> None:
    """Raises InputError unless `name` is a plain file name, which can lead nowhere outside its folder."""
    if not re.fullmatch(r"[A-Za-z0-9_][A-Za-z0-9_.-]{0,99}", name) or name.lower() == NAME:
        raise InputError(f"{place}: file name {name[:80]!r}; expected letters, digits, '_', '-' and '.', no folder")


def commit(folder: PathLike, manifest: Manifest, writers: Mapping[str, Writer]) -> Manifest:
    """Write all files and `paraform.json`, replacing the checkpoint that was there; returns it with the digests.

    Args:
        manifest: its `files` are filled in here.
    Raises: InputError for a folder whose files of these names are not a checkpoint's. OSError if it cannot be
        written, such as on a full disk: the old checkpoint is as it was.
    """
    folder = Path(folder)
    for name in writers:
        check_name(name, folder)
        if (folder / name).exists() and not (folder / NAME).exists():
            raise InputError(f"{folder / name}: exists, and is no checkpoint's; expected a new folder or a checkpoint")
    with one_at_a_time(folder):
        return _replace(folder, manifest, writers)


def _replace(folder: Path, manifest: Manifest, writers: Mapping[str, Writer]) -> Manifest:
    """The commit, in a folder where nobody else writes: what waits there is a dead process's."""
    old = _settle(folder)
    for leftover in folder.glob(".*.waiting"):
        leftover.unlink()
    waiting = {name: _waiting(folder, name) for name in writers}
    try:
        for name, write in writers.items():
            with atomic_path(waiting[name]) as path:
                write(path)
        written = dataclasses.replace(manifest, files={name: sha256(path) for name, path in waiting.items()})
        with atomic_path(folder / NAME) as path:
            path.write_text(_text(written), encoding="utf-8")
    except BaseException:
        for path in waiting.values():
            path.unlink(missing_ok=True)
        with contextlib.suppress(OSError):  # goes only if it was made here and is empty
            folder.rmdir()
        raise
    _settle(folder)
    for name in set(old.files if old else ()) - set(writers):
        (folder / name).unlink(missing_ok=True)
    return written


def read(folder: PathLike) -> Manifest:
    """The folder's `paraform.json`.

    Raises: InputError if it is missing, no JSON, of another format, or not as it was written.
    """
    path = Path(folder) / NAME
    if not path.is_file():
        raise InputError(f"{path}: no such file; expected a checkpoint folder, as checkpoint.save writes it")
    value = parse_json(path.read_bytes(), path, "what checkpoint.save writes")
    if not isinstance(value, dict) or "format" not in value:
        raise InputError(f"{path}: no 'format'; expected the {NAME} of a checkpoint")
    if value["format"] != FORMAT:
        raise InputError(f"{path}: format {value['format']!r}; this paraform reads format {FORMAT}")
    names = {field.name for field in dataclasses.fields(Manifest)}
    for name in sorted({*names, "format", "digest"} ^ set(value)):
        raise InputError(f"{path}: {'no' if name not in value else 'unknown'} field {name[:80]!r}")
    manifest = Manifest(**{name: value[name] for name in names})
    if json.loads(_text(manifest)) != value:
        raise InputError(f"{path}: its own digest does not match; it is damaged or was edited by hand")
    _check_types(manifest, path)
    return manifest


def located(folder: PathLike, manifest: Manifest, name: str) -> Path:
    """Where the file of that name lies, with the digest that `paraform.json` gives it.

    Raises: InputError if it is missing or of another digest.
    """
    final = Path(folder) / name
    if name not in manifest.files:
        raise InputError(f"{Path(folder) / NAME}: lists no {name!r}; expected it among its files")
    for path in (final, _waiting(Path(folder), name)):
        if path.is_file() and sha256(path) == manifest.files[name]:
            return path
    if not final.is_file():
        raise InputError(f"{final}: no such file; {NAME} lists it")
    raise InputError(f"{final}: its SHA-256 is not the one in {NAME}; the file is damaged or another version")


@functools.cache
def versions() -> Mapping[str, str]:
    """Of Python and of the libraries that a figure depends on; "unknown" where one is not installed."""
    found = {"python": platform.python_version()}
    for package in ("paraform", "torch", "transformers", "safetensors"):
        try:
            found[package] = metadata.version(package)
        except metadata.PackageNotFoundError:
            found[package] = "unknown"
    return found


@functools.cache
def revision() -> str | None:
    """The commit of paraform's checkout, with "-dirty" where files differ from it; None outside a checkout."""
    root = Path(__file__).parents[2]
    if not (root / ".git").exists():  # installed elsewhere, perhaps inside some other project's checkout
        return None
    command = ["git", "-C", str(root), "describe", "--always", "--dirty", "--abbrev=40"]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=10)
    except (OSError, subprocess.TimeoutExpired):
        return None
    return done.stdout.strip() if done.returncode == 0 else None


def write_text(text: str) -> Writer:
    """A writer of that text, in UTF-8, with the line ends as they are."""
    return lambda path: path.write_bytes(text.encode())


def _waiting(folder: Path, name: str) -> Path:
    return folder / f".{name}.waiting"


def _settle(folder: Path) -> Manifest | None:
    """Finish a save that was killed after its commit; returns the manifest, None without a readable one."""
    try:
        manifest = read(folder)
    except InputError:
        return None
    for name, digest in manifest.files.items():
        path = _waiting(folder, name)
        if path.is_file() and sha256(path) == digest:
            os.replace(path, folder / name)
    return manifest


def _text(manifest: Manifest) -> str:
    fields = {"format": FORMAT} | dataclasses.asdict(manifest)
    digest = hashlib.sha256(json.dumps(fields, sort_keys=True).encode()).hexdigest()
    return json.dumps(fields | {"digest": digest}, indent=2, ensure_ascii=False) + "\n"


def _check_types(manifest: Manifest, path: Path) -> None:
    """Its digest says who wrote it only if it was us: a hostile file has a right digest too."""
    wanted = {"system": str, "config": dict, "assets": list, "files": dict, "dtype": str, "data": dict}
    for name, kind in wanted.items():
        if not isinstance(getattr(manifest, name), kind):
            raise InputError(f"{path}: {name} is {str(getattr(manifest, name))[:60]!r}; expected a {kind.__name__}")
    for name in (*manifest.assets, *manifest.files):
        if not isinstance(name, str):
            raise InputError(f"{path}: {str(name)[:60]!r} among the assets; expected a file name")
        check_name(name, path)
