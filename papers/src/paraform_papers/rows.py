"""The rows of tables: each is trained once and measured once, and what is kept says what it depends on.

A row's folder has a mark, `trained.json`, of what its training depended on and of the weights that it left; a file of
figures has all that these depend on, code and libraries too.
"""

from __future__ import annotations

import dataclasses
import hashlib
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from paraform import checkpoint, manifest
from paraform.encoders import Encoder
from paraform.fields import kept_fields
from paraform.json_text import parse_json
from paraform.records import InputError
from paraform.training.run import defaults
from paraform.weights import atomic_path, sha256

MARK = "trained.json"
ENCODER = "encoder"  # of a row that ends in an encoder, its folder


@dataclass(frozen=True)
class Row:
    """A training whose weights a table measures.

    Args:
        folder: its run's, with nothing of another row.
        train: trains, or goes on. Raises: KeyboardInterrupt if interrupted, and saved.
        config: the model's; None: it has none.
        about: what else the training depends on: values that JSON has.
    """

    name: str
    folder: Path
    train: Callable[[], object]
    config: Any = None
    about: Callable[[], Mapping[str, Any]] = dict
    seed: int = 0

    @property
    def label(self) -> str:
        """The row's name beside those of other seeds."""
        return f"{self.name}, seed {self.seed}"


def train_row(row: Row) -> bool:
    """Train a row or go on with it; False: it was over. Raises: as its `train`."""
    if is_trained(row):
        return False
    if "weights" not in (read_object(row.folder / MARK) or {"weights": None}):
        (row.folder / MARK).unlink()  # of version 0.1.0, which would outlive its weights
    row.train()
    config = None if row.config is None else dataclasses.asdict(row.config)
    write_object(row.folder / MARK, {"config": config, **row.about(), "weights": digest_of(row.folder)})
    return True


def is_trained(row: Row) -> bool:
    """Whether the row is there, trained as its settings are now; a field that its config gained or lost since counts as
    in resuming."""
    found = read_object(row.folder / MARK)
    if found is None or ("weights" in found and found["weights"] != digest_of(row.folder)):
        return False
    if not _holds(found, json.loads(json.dumps(row.about()))):
        return False
    if row.config is None:
        return True
    try:
        stored = found.get("config", found)  # ParaBART's and PAR's marks of 0.1.0 have its fields beside the others
        stored = defaults(row.config) | kept_fields(type(row.config), stored, row.folder / MARK)
    except InputError:
        return False
    return _holds(json.loads(json.dumps(stored)), json.loads(json.dumps(dataclasses.asdict(row.config))))


def loaded(row: Row, device: str | None) -> Any:
    """What a row's training left: an encoder in a folder of its own, or the model."""
    encoder = row.folder / ENCODER
    model = checkpoint.load(str(encoder if encoder.is_dir() else row.folder), device=device)
    if isinstance(model, Encoder):
        model = replace(model, name=row.label)  # signatures name no folder of this machine
    return model


def kept(
    path: Path, of: Mapping[str, Any], measure: Callable[[], Mapping[str, Any]], *, again: bool = False
) -> dict[str, Any]:
    """What `path` holds, if it is of the same settings, code and libraries; else what `measure` finds, and there, too.

    Code that differs from every commit (a checkout with changes of its own), or of which none is known, is measured
    each time.

    Args:
        path: a JSON file; removing it measures again.
        of: all that the figures depend on, but for code and libraries.
        again: whether it is measured in any case.
    """
    code = manifest.revision()
    found, wanted = read_object(path), {**of, "git": code, **manifest.versions()}
    again = again or code is None or code.endswith("-dirty")
    if again or found is None or found.get("of") != json.loads(json.dumps(wanted)):
        found = {"of": wanted, **measure()}
        write_object(path, found)
    return found


def digest_of(path: Path) -> str:
    """SHA-256 of a file; of a run its checkpoints' lists of files, which name digests; of another folder its files."""
    if not path.is_dir():
        return sha256(path)
    files = sorted(path.rglob(manifest.NAME)) or sorted(one for one in path.rglob("*") if one.is_file())
    names = [f"{one.relative_to(path).as_posix()} {sha256(one)}\n" for one in files if one.name != MARK]
    return hashlib.sha256("".join(names).encode()).hexdigest()


def _holds(found: Any, wanted: Any) -> bool:
    """Whether every value that is wanted was found; what there is more of a mapping does not count."""
    if isinstance(wanted, dict):
        return isinstance(found, dict) and all(key in found and _holds(found[key], wanted[key]) for key in wanted)
    return bool(found == wanted)


def read_object(path: Path) -> dict[str, Any] | None:
    """The file's JSON object; None: it is not there, or holds none, as of a kill or another hand."""
    try:
        found = parse_json(path.read_text(encoding="utf-8"), path)
    except (OSError, ValueError):
        return None
    return found if isinstance(found, dict) else None


def write_object(path: Path, value: Mapping[str, Any]) -> None:
    """As a whole, or not at all."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with atomic_path(path) as unfinished:
        unfinished.write_text(json.dumps(value, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
