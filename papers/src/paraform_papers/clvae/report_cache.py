"""A cache of reports beside the runs that they are of: a table that is printed again measures nothing twice."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Callable, Mapping
from pathlib import Path

from paraform.evaluation.latent import LatentReport, SentenceBounds
from paraform.manifest import NAME, revision, versions
from paraform.records import parse_json
from paraform.score import Score
from paraform.weights import atomic_path, sha256


def cached_report(
    path: Path, checkpoint: Path, settings: Mapping[str, object], measure: Callable[[], LatentReport]
) -> LatentReport:
    """What `path` holds, if it is of the same weights, settings, code and libraries; else what `measure` finds.

    Code that differs from every commit (a checkout with changes of its own) is measured each time.

    Args:
        path: a JSON file; removing it measures again.
        checkpoint: folder of the weights.
        settings: all else that the figures depend on.
    """
    code = revision()
    of = {"checkpoint": sha256(checkpoint / NAME), "git": code, **versions(), **settings}
    found = _read(path, of)
    if found is None or (code or "").endswith("-dirty"):
        found = measure()
        with atomic_path(path) as unfinished:
            text = json.dumps({"of": of, **dataclasses.asdict(found)}, indent=1, ensure_ascii=False)
            unfinished.write_text(text, encoding="utf-8")
    return found


def _read(path: Path, of: Mapping[str, object]) -> LatentReport | None:
    """The report; None if there is none, or one of something else."""
    try:
        value = parse_json(path.read_text(encoding="utf-8"), path)
        if value["of"] != of:
            return None
        scores = tuple(Score(**score) for score in value["scores"])
        bounds = value["bounds"]
        if bounds is not None:
            bounds = SentenceBounds(**{**bounds, "nats": tuple(bounds["nats"])})
        return LatentReport(scores, tuple(value["alarms"]), bounds)
    except (OSError, ValueError, TypeError, KeyError):
        return None
