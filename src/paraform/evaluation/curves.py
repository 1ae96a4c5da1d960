"""Learning curves of several runs, from the `log.jsonl` that each training writes."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

from paraform.evaluation.pictures import run_look
from paraform.extensions import needed
from paraform.records import InputError

if TYPE_CHECKING:  # its import takes longer than a short answer
    from matplotlib.figure import Figure

COLUMNS = 3
MARKS = 15  # of a line at most: more would hide it

Curves: TypeAlias = dict[str, dict[str, list[tuple[int, float]]]]
"""Metric → run → its steps and values."""


def read_log(log: Path) -> list[dict[str, Any]]:
    """The records of a run (`training.journal.Record`); [] if it has no log yet.

    A line that a crash or a full disk left unfinished is none: the run writes its log anew when it goes on.
    """
    found = []
    for line in log.read_text(encoding="utf-8", errors="replace").splitlines() if log.is_file() else ():
        with contextlib.suppress(json.JSONDecodeError):
            record = json.loads(line)
            if isinstance(record, dict) and isinstance(record.get("step"), int):
                found.append(record)
    return found


def read_curves(runs: Mapping[str, Path], metrics: Sequence[str] = ()) -> Curves:
    """What runs have written of metrics, which are named as in TensorBoard: `train/nll`, `validation/loss`.

    Args:
        runs: their folders by name.
        metrics: which; (): all of the validation, or, where nobody has validated yet, all of the training.
    Raises: InputError for a folder that is no run's, or a metric that no run has, with those that they have.
    """
    found: Curves = {}
    for run, folder in runs.items():
        records = read_log(folder / "log.jsonl")
        if not records:
            raise InputError(f"{folder}: no log.jsonl with records; expected a run's folder, as `paraform train` makes")
        for record in records:
            for split, values in record.items():
                for name, value in values.items() if isinstance(values, dict) else ():
                    if isinstance(value, (int, float)):  # what is not finite is null
                        points = found.setdefault(f"{split}/{name}", {}).setdefault(run, [])
                        points.append((record["step"], float(value)))
    if absent := [metric for metric in metrics if metric not in found]:
        raise InputError(f"no run has the metric {absent[0]!r}; expected one of {', '.join(found)}")
    usual = [name for name in found if name.startswith("validation/")] or list(found)
    return {metric: found[metric] for metric in dict.fromkeys(metrics or usual)}


def curves_plot(curves: Curves, runs: Sequence[str]) -> Figure:
    """A panel for each metric, a line for each run that has it; a run looks the same in all of them.

    Args:
        runs: their names, in the legend's order.
    """
    needed("matplotlib", "a picture", "eval")
    from matplotlib.figure import Figure
    from matplotlib.lines import Line2D

    columns = min(COLUMNS, len(curves))
    rows = -(-len(curves) // columns)
    figure = Figure(figsize=(4.2 * columns, 3.2 * rows), layout="constrained")
    looks = {run: {"linewidth": 1.3, "markersize": 4, **run_look(number)} for number, run in enumerate(runs)}
    for number, (metric, by_run) in enumerate(curves.items(), start=1):
        axes = figure.add_subplot(rows, columns, number, title=metric, xlabel="step")
        for run, points in by_run.items():
            axes.plot(*zip(*points, strict=True), markevery=max(1, len(points) // MARKS), **looks[run])
        axes.grid(alpha=0.3)
    lines = [Line2D([], [], label=run, **looks[run]) for run in runs]
    figure.legend(handles=lines, loc="outside lower center", ncols=min(len(runs), columns))
    return figure
