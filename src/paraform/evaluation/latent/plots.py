"""How runs use their latent spaces (the paper's Figure 3), and what each protocol says of a table's rows: pictures."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from paraform.evaluation.latent.monitor import validations
from paraform.score import Score
from paraform.weights import atomic_path

if TYPE_CHECKING:  # its import takes longer than a short answer
    from matplotlib.figure import Figure

PANELS = {
    "KL, nats": ("kl", "dual_kl"),
    "MI, nats": ("mi",),
    "active units": ("au",),
    "−ln p(x|z)": ("reconstruction",),
}
MARKERS = "o^svDP*X<>"
LOOKS: dict[str, dict[str, Any]] = {  # of a protocol's figures, in the order in which they are drawn
    "published": {"color": "tab:gray", "marker": "D", "fillstyle": "none"},
    "honest, same weights": {"color": "tab:blue", "marker": "o", "markersize": 9},
    "paper": {"color": "tab:orange", "marker": "o", "markersize": 5},
}


def save_figure(figure: Figure, path: Path, dpi: int = 100) -> None:
    """Write it as a PNG; a kill leaves the old picture or the new one."""
    with atomic_path(path) as unfinished:
        figure.savefig(unfinished, format="png", dpi=dpi)


def draw_collapse(runs: Mapping[str, Path], picture: Path) -> None:
    """Write `collapse_figure`, if there is something to draw."""
    if (figure := collapse_figure(runs)) is not None:
        save_figure(figure, picture)


def collapse_figure(runs: Mapping[str, Path]) -> Figure | None:
    """Figure 3: KL, MI, active units and reconstruction at every validation in the `log.jsonl` of runs, by name.

    Of a single run the critics' KL stands beside that in closed form. None: no run has been validated yet.
    """
    seen = {name: validations(folder / "log.jsonl") for name, folder in runs.items()}
    if not any(seen.values()):
        return None
    from matplotlib.figure import Figure

    figure = Figure(figsize=(11, 7), layout="constrained")
    for number, (title, figures) in enumerate(PANELS.items(), start=1):
        axes = figure.add_subplot(2, 2, number, title=title, xlabel="step")
        for row, (name, records) in enumerate(seen.items()):
            for which in figures if len(runs) == 1 else figures[:1]:
                points = [(step, found[which]) for step, found in records if which in found]
                if points:
                    looks = {"label": which, "marker": "."} if len(runs) == 1 else {"label": name, **run_look(row)}
                    axes.plot(*zip(*points, strict=True), **looks)
        if axes.lines and len(runs) == 1:
            axes.legend()
    if len(runs) > 1:
        lines = max((axes.get_lines() for axes in figure.axes), key=len)
        figure.legend(handles=lines, loc="outside right upper")
    return figure


def run_look(row: int) -> dict[str, Any]:
    """How the row-th run is drawn, in every panel: no two of the first twenty look alike, in grey neither.

    An autoencoder has no KL, so that a panel's own count would not do; and lines that lie on each other (MI at its
    most) are told apart by their marks.
    """
    from matplotlib import colormaps

    return {"color": colormaps["tab10"](row % 10), "linestyle": ("-", "--")[row // 10], "marker": MARKERS[row % 10]}


def protocols_figure(scores: Sequence[Score]) -> Figure:
    """KL and perplexity of each row: as published, by the paper's protocol, and by the honest one, same weights."""
    from matplotlib.figure import Figure

    rows = list(dict.fromkeys(score.system for score in scores))
    figure = Figure(figsize=(10, 1.5 + 0.3 * len(rows)), layout="constrained")
    both = figure.subplots(1, 2, sharey=True)
    for axes, name, unit in zip(both, ("KL", "PPL"), ("nats a sentence", "a word"), strict=True):
        found = {(score.system, score.protocol): score.value for score in scores if score.name == name}
        for row in rows:
            ends = [found[row, protocol] for protocol in ("paper", "honest, same weights") if (row, protocol) in found]
            axes.plot(ends, [row] * len(ends), color="lightgray", zorder=0)
        for protocol, look in LOOKS.items():
            points = [(found[row, protocol], row) for row in rows if (row, protocol) in found]
            if points:
                axes.plot(*zip(*points, strict=True), linestyle="none", label=protocol, **look)
        axes.set_xlabel(f"{name}, {unit}")
        axes.grid(axis="x", alpha=0.3)
        axes.margins(y=0.08)
    both[0].invert_yaxis()
    figure.legend(*both[0].get_legend_handles_labels(), loc="outside upper center", ncols=len(LOOKS))
    return figure
