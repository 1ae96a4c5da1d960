"""`evaluate generation` of a rival that was trained by the command."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any


def bleu_of(run: Path, question_pairs: Path, test: Path, command: Callable[..., Any]) -> dict[str, Any]:
    """The score of 30 lines of the pairs, which are written to `test`, by a beam of 2."""
    test.write_text("".join(question_pairs.read_text(encoding="utf-8").splitlines(True)[:30]))
    measured = command(
        "evaluate", "generation", "--model", run, "--data", test, "--device", "cpu", "--json", "--resamples", 0,
        "--beam", 2,
    )  # fmt: skip
    assert measured.status == 0, measured.err
    chosen = ("BLEU", str(run), "first", "all")
    scores: list[dict[str, Any]] = json.loads(measured.out)["scores"]
    (score,) = (s for s in scores if (s["name"], s["system"], s["protocol"], s["subset"]) == chosen)
    return score
