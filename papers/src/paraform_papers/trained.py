"""A mark in the folder of a training that is over, so that nothing is read, tagged or parsed for it again."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from paraform.weights import atomic_path

FILE = "trained.json"


def is_trained(folder: Path, about: Mapping[str, Any]) -> bool:
    """Whether the training in a folder is over and depended on the same; a mark that is no JSON is none."""
    try:
        found = json.loads((folder / FILE).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return False
    return bool(found == json.loads(json.dumps(about)))


def mark_trained(folder: Path, about: Mapping[str, Any]) -> None:
    """Say that the training in a folder is over, and what it depended on: values that JSON has."""
    with atomic_path(folder / FILE) as unfinished:
        unfinished.write_text(json.dumps(about), encoding="utf-8")


def forget_trained(folder: Path) -> None:
    """Before another training begins in a folder: a mark of one before it would outlive its weights."""
    (folder / FILE).unlink(missing_ok=True)
