"""What runs of the family have seen of their latent spaces while they were trained: the paper's Figure 3."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from paraform.weights import atomic_path

if TYPE_CHECKING:
    from matplotlib.figure import Figure

WATCHED = {
    "KL, nats": ("kl", "dual_kl"),
    "MI, nats": ("mi",),
    "active units": ("au",),
    "−ln p(x|z)": ("reconstruction",),
}


def draw_watched(runs: Mapping[str, Path], picture: Path) -> None:
    """Write `watched_figure`, if there is something to draw."""
    figure = watched_figure(runs)
    if figure is not None:
        with atomic_path(picture) as unfinished:
            figure.savefig(unfinished, format="png", dpi=100)


def watched_figure(runs: Mapping[str, Path]) -> Figure | None:
    """Figure 3: KL, MI, active units and reconstruction at every validation in the `log.jsonl` of runs, by name.

    Of a single run the critics' KL stands beside that in closed form. None: no run has been validated yet.
    """
    seen = {name: validations(folder / "log.jsonl") for name, folder in runs.items()}
    if not any(seen.values()):
        return None
    from matplotlib import colormaps
    from matplotlib.figure import Figure

    figure = Figure(figsize=(9, 6), layout="constrained")
    for number, (title, figures) in enumerate(WATCHED.items(), start=1):
        axes = figure.add_subplot(2, 2, number, title=title, xlabel="step")
        for row, (name, records) in enumerate(seen.items()):
            for which in figures if len(runs) == 1 else figures[:1]:
                points = [(step, found[which]) for step, found in records if which in found]
                if points:
                    # An autoencoder has no KL, so that a panel's own count of colours would not do.
                    looks = {"label": which} if len(runs) == 1 else {"label": name, "color": colormaps["tab20"](row)}
                    axes.plot(*zip(*points, strict=True), marker=".", **looks)
        if axes.lines and len(runs) == 1:
            axes.legend()
    if len(runs) > 1:
        lines = max((axes.get_lines() for axes in figure.axes), key=len)
        figure.legend(handles=lines, loc="outside right upper")
    return figure


def validations(log: Path) -> list[tuple[int, dict[str, float]]]:
    """Step and figures of each validation of a run; [] if it has no log yet.

    A line that a crash or a full disk left unfinished is none: the run writes its log anew when it goes on.
    """
    found = []
    for line in log.read_text(encoding="utf-8", errors="replace").splitlines() if log.is_file() else ():
        with contextlib.suppress(json.JSONDecodeError):
            record = json.loads(line)
            if "validation" in record:
                found.append((record["step"], record["validation"]))
    return found
