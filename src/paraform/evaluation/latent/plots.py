"""How runs use their latent spaces: the paper's Figure 3."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from paraform.evaluation.latent.monitor import validations
from paraform.evaluation.pictures import run_look, save_plot
from paraform.extensions import needed

if TYPE_CHECKING:  # its import takes longer than a short answer
    from matplotlib.figure import Figure

Panels = Mapping[str, tuple[str, ...]]
"""Title → a validation's figures; of several runs the first alone is drawn."""

USE_PANELS: Panels = {
    "KL, nats": ("kl", "dual_kl"),
    "MI, nats": ("mi",),
    "active units": ("au",),
    "−ln p(x|z)": ("reconstruction",),
}
PROTOCOL_PANELS: Panels = {
    "honest: KL in closed form, nats": ("kl",),
    "paper's: KL by the critic, nats": ("paper_kl",),
    "honest: bound on −ln p(x), nats": ("loss",),
    "paper's: −ELBO with that KL, nats": ("paper_elbo",),
}


def draw_collapse(runs: Mapping[str, Path], picture: Path, panels: Panels = USE_PANELS) -> None:
    """Write `collapse_plot`, if there is something to draw."""
    if (figure := collapse_plot(runs, panels)) is not None:
        save_plot(figure, picture)


def collapse_plot(runs: Mapping[str, Path], panels: Panels = USE_PANELS) -> Figure | None:
    """Figure 3: what every validation in the `log.jsonl` of runs says, by name.

    Of a single run the critics' KL stands beside that in closed form. None: no run has been validated yet.

    Args:
        panels: `USE_PANELS`, KL, MI, active units and reconstruction; or `PROTOCOL_PANELS`, what each protocol calls
            KL and bound.
    """
    seen = {name: found for name, folder in runs.items() if (found := validations(folder / "log.jsonl"))}
    if not seen:
        return None
    needed("matplotlib", "a picture", "eval")
    from matplotlib.figure import Figure

    figure = Figure(figsize=(11, 7), layout="constrained")
    for number, (title, figures) in enumerate(panels.items(), start=1):
        axes = figure.add_subplot(2, 2, number, title=title, xlabel="step")
        for row, (name, records) in enumerate(seen.items()):
            for which in figures if len(runs) == 1 else figures[:1]:
                points = [(step, by[which]) for step, found in records if which in (by := _by_protocol(found))]
                if points:
                    looks = {"label": which, "marker": "."} if len(runs) == 1 else {"label": name, **run_look(row)}
                    axes.plot(*zip(*points, strict=True), **looks)
        if axes.lines and len(runs) == 1:
            axes.legend()
    if len(runs) > 1:
        lines = max((axes.get_lines() for axes in figure.axes), key=len)
        figure.legend(handles=lines, loc="outside right upper")
    return figure


def _by_protocol(found: Mapping[str, float]) -> dict[str, float]:
    """A validation's figures, with KL and −ELBO as the paper has them: by the critic, of a Gaussian in closed form."""
    if not {"kl", "reconstruction"} <= found.keys():
        return dict(found)
    paper_kl = found.get("dual_kl", found["kl"])
    return {**found, "paper_kl": paper_kl, "paper_elbo": found["reconstruction"] + paper_kl}
