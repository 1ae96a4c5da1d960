"""What each protocol says of a table's rows: a picture."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from paraform.extensions import needed
from paraform.score import Score

if TYPE_CHECKING:  # its import takes longer than a short answer
    from matplotlib.figure import Figure

LOOKS: dict[str, dict[str, Any]] = {  # of a protocol's figures, in the order in which they are drawn
    "published": {"color": "tab:gray", "marker": "D", "fillstyle": "none"},
    "honest, same weights": {"color": "tab:blue", "marker": "o", "markersize": 9},
    "paper": {"color": "tab:orange", "marker": "o", "markersize": 5},
}


def protocols_plot(scores: Sequence[Score]) -> Figure:
    """KL and perplexity of each row: as published, by the paper's protocol, and by the honest one, same weights."""
    needed("matplotlib", "a picture", "eval")
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
