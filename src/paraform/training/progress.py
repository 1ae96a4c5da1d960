"""What `training.json` holds: how far a run is, and all that is no tensor; read back only if a run could write it.

The digest in `paraform.json` says that a file is as somebody left it, not that it was us.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from paraform.json_text import parse_json
from paraform.records import InputError
from paraform.training.journal import Record

NAME = "training.json"


@dataclass
class Progress:
    """What changes from step to step; `window` holds [sum, count] of each term since the last record."""

    step: int = 0
    best_score: float | None = None
    best_step: int | None = None
    stale: int = 0
    window: dict[str, list[float]] = field(default_factory=dict)
    history: list[Record] = field(default_factory=list)

    def count(self, terms: Mapping[str, float]) -> None:
        """One more step, with these terms."""
        self.step += 1
        for name, value in terms.items():
            total, count = self.window.get(name, (0.0, 0))
            self.window[name] = [total + value, count + 1]


@dataclass(frozen=True)
class Saved:
    """The content of `training.json`.

    Args:
        training: the fields of the run's `TrainingConfig`.
        processes: how many trained.
        optimizers: what `state.pack_optimizers` gave.
    """

    training: dict[str, Any]
    processes: int
    progress: Progress
    optimizers: dict[str, Any]


def read_saved(path: Path) -> Saved:
    """Raises: InputError, naming the field, for what no run has written."""
    value = parse_json(path.read_bytes(), path, "what a run writes")
    fields = {"training": dict, "processes": int, "progress": dict, "optimizers": dict}
    if not isinstance(value, dict) or value.keys() != fields.keys():
        raise InputError(f"{path}: expected an object of {', '.join(fields)}")
    for name, kind in fields.items():
        _require(type(value[name]) is kind, path, name, value[name], f"a {kind.__name__}")
    return Saved(**value | {"progress": _progress(value["progress"], path)})


def _progress(value: dict[str, Any], path: Path) -> Progress:
    names = Progress.__dataclass_fields__.keys()
    _require(value.keys() == names, path, "progress", list(value), f"the fields {', '.join(names)}")
    for name in ("step", "stale"):
        _require(_whole(value[name]), path, name, value[name], "a whole number, 0 or more")
    score, step = value["best_score"], value["best_step"]
    _require(score is None or _finite(score), path, "best_score", score, "a finite number or null")
    _require((step is None) == (score is None), path, "best_step", step, "a step if there is a score, else null")
    _require(step is None or _whole(step), path, "best_step", step, "a whole number, or null")
    window, history = value["window"], value["history"]
    fits = isinstance(window, dict) and all(
        isinstance(pair, list) and len(pair) == 2 and _number(pair[0]) and _whole(pair[1]) and pair[1] > 0
        for pair in window.values()
    )
    _require(fits, path, "window", window, "a sum and a count of each term")
    fits = isinstance(history, list) and all(map(_is_record, history))
    _require(fits, path, "history", history, "a list of records, each a step and its terms or scores")
    return Progress(**value)


def _is_record(value: object) -> bool:
    if not isinstance(value, dict) or len(value) != 2 or not _whole(value.get("step")):
        return False
    terms = value.get("train", value.get("validation"))
    return isinstance(terms, dict) and all(term is None or _number(term) for term in terms.values())


def _number(value: object) -> bool:
    return isinstance(value, float) or (type(value) is int and abs(value) < 2**63)


def _finite(value: Any) -> bool:
    return _number(value) and math.isfinite(value)


def _whole(value: object) -> bool:
    return type(value) is int and 0 <= value < 2**63


def _require(fits: bool, path: Path, name: str, value: object, expected: str) -> None:
    if not fits:
        raise InputError(f"{path}: {name} is {str(value)[:60]!r}; expected {expected}")
